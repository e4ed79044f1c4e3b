package verbena.transport.iwarp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.StreamTerms;

/// Puts ULPDUs into FPDUs (RFC 5044 4): length, padding, CRC and markers. The sender writes a ULPDU to the place
/// that [#begin] returns, or writes its front and names where the rest lies. Then it ends the ULPDU.
final class FpduWriter {
    /// Payload below this is copied: one piece is cheaper for the operating system than three.
    static final int REFER_BYTES_MIN = 2048;

    private final CRC32C crc32c = new CRC32C();
    private boolean crc;
    private boolean markers;
    /// An FPDU without its markers; only with markers.
    private @Nullable StreamBuffer plain;
    /// Octets of the stream so far; only with markers.
    private long position;

    private int ulpdu;

    void start(StreamTerms terms) {
        crc = terms.crc();
        markers = terms.markersOut();
        position = 0;
        if (markers && plain == null) {
            plain = new StreamBuffer(Arena.ofAuto().allocate(StreamBuffer.BYTES_MIN, Long.BYTES));
        }
    }

    /// Returns whether payload may stay where it is: a CRC covers what is sent, and memory of the application may
    /// change in between.
    boolean mayRefer() {
        return !crc && !markers;
    }

    /// Returns whether `out` has room for an FPDU with a ULPDU of so many bytes. All of them are copied, or only
    /// the header when `refer` is set.
    boolean hasRoom(StreamOutput out, int headerBytes, int payloadBytes, boolean refer) {
        if (refer) {
            int trailer = Fpdu.trailerBytes(headerBytes + payloadBytes);
            return out.claim(Fpdu.LENGTH_BYTES + headerBytes + trailer, 3);
        }
        int bytes = Fpdu.length(headerBytes + payloadBytes);
        return out.claim(markers ? Fpdu.withMarkers(position, bytes) : bytes, 1);
    }

    /// Begins an FPDU; the ULPDU is to be written to [#target] from the answer on.
    int begin(StreamOutput out, int ulpduBytes) {
        ulpdu = ulpduBytes;
        int at = plain(out) == out.own ? out.at() : 0;
        Fpdu.setUlpduLength(target(out), at, ulpduBytes);
        return at + Fpdu.LENGTH_BYTES;
    }

    /// Returns the memory that the ULPDU is to be written to.
    MemorySegment target(StreamOutput out) {
        return plain(out).segment;
    }

    private StreamBuffer plain(StreamOutput out) {
        return plain != null && markers ? plain : out.own;
    }

    /// Completes the FPDU when its ULPDU is written.
    void end(StreamOutput out) {
        StreamBuffer buffer = plain(out);
        int start = buffer == out.own ? out.at() : 0;
        int covered = Fpdu.length(ulpdu) - Fpdu.CRC_BYTES;
        writePad(buffer.segment, start + Fpdu.LENGTH_BYTES + ulpdu);
        if (buffer == out.own) {
            int value = crc ? Fpdu.crc(crc32c, buffer.buffer, start, covered) : 0;
            Fpdu.setCrc(buffer.segment, start + covered, value);
            out.add(covered + Fpdu.CRC_BYTES);
        } else {
            addWithMarkers(buffer.segment, covered, out);
        }
    }

    /// Completes the FPDU when the ULPDU's first `headerBytes` are written, and the rest of it lies in a region.
    void endReferring(StreamOutput out, int headerBytes, MemorySegment memory, long offset, int bytes) {
        out.add(Fpdu.LENGTH_BYTES + headerBytes);
        out.addMemory(memory, offset, bytes);
        int at = out.at();
        writePad(out.own.segment, at);
        Fpdu.setCrc(out.own.segment, at + (long) Fpdu.pad(ulpdu), 0);
        out.add(Fpdu.trailerBytes(ulpdu));
    }

    private void writePad(MemorySegment segment, long at) {
        for (int i = 0; i < Fpdu.pad(ulpdu); i++) {
            segment.set(ValueLayout.JAVA_BYTE, at + i, (byte) 0);
        }
    }

    /// Adds an FPDU with markers. Every marker shows how far back the FPDU starts, and the CRC covers markers too
    /// (RFC 5044 4.3, 4.4).
    private void addWithMarkers(MemorySegment from, int covered, StreamOutput out) {
        MemorySegment to = out.own.segment;
        int start = out.at();
        int at = start;
        int done = 0;
        // A marker in front of the FPDU does not count as part of what it points back over.
        int front = Fpdu.toMarker(position) == 0 ? Fpdu.MARKER_BYTES : 0;
        while (done < covered + Fpdu.CRC_BYTES) {
            int until = Fpdu.toMarker(position + (at - start));
            if (until == 0) {
                Fpdu.writeMarker(to, at, at == start ? 0 : at - start - front);
                at += Fpdu.MARKER_BYTES;
                until = Fpdu.MARKER_INTERVAL - Fpdu.MARKER_BYTES;
            }
            if (done == covered) {
                Fpdu.setCrc(to, at, crc ? Fpdu.crc(crc32c, out.own.buffer, start, at - start) : 0);
                at += Fpdu.CRC_BYTES;
                break;
            }
            int n = Math.min(until, covered - done);
            MemorySegment.copy(from, done, to, at, n);
            done += n;
            at += n;
        }
        position += at - start;
        out.add(at - start);
    }
}
