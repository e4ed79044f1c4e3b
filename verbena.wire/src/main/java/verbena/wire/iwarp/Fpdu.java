package verbena.wire.iwarp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import verbena.wire.BigEndian;

/// Framed protocol data unit (RFC 5044 4): the length of a ULPDU, the ULPDU, padding to a multiple of 4, a CRC32c.
/// A view: `offset` is where it starts in `segment`.
public final class Fpdu {
    /// Bytes of the length in front.
    public static final int LENGTH_BYTES = 2;
    public static final int CRC_BYTES = 4;
    /// The longest ULPDU that the length can name.
    public static final int ULPDU_MAX = 0xFFFF;
    /// Octets of a stream from one marker to the next.
    public static final int MARKER_INTERVAL = 512;

    public static final int MARKER_BYTES = 4;
    /// No connection sends ULPDUs of less (RFC 5044 4.1).
    private static final int MULPDU_MIN = 128;

    /// The layout of the CRC, the only number of iWARP that is not big-endian.
    private static final ValueLayout.OfInt LITTLE = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Fpdu() {}

    /// Returns the number of bytes of the ULPDU.
    public static int ulpduLength(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset);
    }

    public static void setUlpduLength(MemorySegment segment, long offset, int bytes) {
        BigEndian.put16(segment, offset, bytes);
    }

    /// Returns the number of bytes of padding behind a ULPDU of this length.
    public static int pad(int ulpduLength) {
        return -(LENGTH_BYTES + ulpduLength) & 3;
    }

    /// Returns the number of bytes behind a ULPDU of this length: padding and CRC.
    public static int trailerBytes(int ulpduLength) {
        return pad(ulpduLength) + CRC_BYTES;
    }

    /// Returns the number of bytes of an FPDU without markers.
    public static int length(int ulpduLength) {
        return LENGTH_BYTES + ulpduLength + trailerBytes(ulpduLength);
    }

    /// Returns the CRC32c of `bytes` of a buffer.
    ///
    /// @param with any; it is reset
    /// @param buffer its position and limit are changed
    public static int crc(CRC32C with, ByteBuffer buffer, int from, int bytes) {
        with.reset();
        with.update(buffer.clear().position(from).limit(from + bytes));
        return (int) with.getValue();
    }

    /// Returns the CRC that stands at `offset`.
    public static int crc(MemorySegment segment, long offset) {
        return segment.get(LITTLE, offset);
    }

    public static void setCrc(MemorySegment segment, long offset, int crc) {
        segment.set(LITTLE, offset, crc);
    }

    /// Returns the largest ULPDU whose FPDU fits into a TCP segment of `emss` bytes (RFC 5044 4.1, 4.2 and appendix
    /// A.3).
    public static int mulpdu(int emss, boolean markers) {
        int overhead = LENGTH_BYTES + CRC_BYTES;
        int forMarkers = markers ? MARKER_BYTES * ((emss + MARKER_INTERVAL - 1) / MARKER_INTERVAL) : 0;
        int fits = emss - (overhead + forMarkers + emss % 4);
        return Math.clamp(fits, MULPDU_MIN, ULPDU_MAX);
    }

    /// Octets from `position` of the stream, the first FPDU's first octet being 0, to the next marker: 0 when it
    /// stands there.
    public static int toMarker(long position) {
        return (int) (-position & (MARKER_INTERVAL - 1));
    }

    /// Returns how many octets `bytes` take up with the markers that fall before or into them, from `position` of
    /// the stream.
    public static int withMarkers(long position, int bytes) {
        int first = toMarker(position);
        if (bytes <= first) {
            return bytes;
        }
        int between = MARKER_INTERVAL - MARKER_BYTES;
        int markers = 1 + (bytes - first - 1) / between;
        return bytes + markers * MARKER_BYTES;
    }

    /// Returns how far back from the marker the FPDU starts, in octets; 0 when the marker stands in front of it.
    public static int markerPointer(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + 2);
    }

    /// Copies an FPDU without the markers in it; whether each of them points at its start.
    ///
    /// @param raw octets that it has with them, from `at` on
    /// @param position of the first of these in the stream
    public static boolean copyWithoutMarkers(MemorySegment from, long at, int raw, long position, MemorySegment to) {
        int front = toMarker(position) == 0 ? MARKER_BYTES : 0;
        boolean right = true;
        int done = 0;
        int read = 0;
        while (read < raw) {
            int until = toMarker(position + read);
            if (until == 0) {
                right &= markerPointer(from, at + read) == (read == 0 ? 0 : read - front);
                read += MARKER_BYTES;
                until = MARKER_INTERVAL - MARKER_BYTES;
            }
            int n = Math.min(until, raw - read);
            MemorySegment.copy(from, at + read, to, done, n);
            read += n;
            done += n;
        }
        return right;
    }

    public static void writeMarker(MemorySegment segment, long offset, int pointer) {
        BigEndian.put16(segment, offset, 0);
        BigEndian.put16(segment, offset + 2, pointer);
    }
}
