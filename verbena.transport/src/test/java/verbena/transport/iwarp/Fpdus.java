package verbena.transport.iwarp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;

/// Made-up FPDUs, legal or not, and FPDUs taken apart.
final class Fpdus {
    private Fpdus() {}

    static byte[] tagged(RdmapOpcode opcode, boolean last, int stag, long offset, int payload) {
        MemorySegment s = MemorySegment.ofArray(new byte[Ddp.TAGGED_BYTES + payload]);
        Ddp.writeTagged(s, 0, opcode, last, stag, offset);
        return fpdu(pattern(s, Ddp.TAGGED_BYTES));
    }

    static byte[] untagged(RdmapOpcode opcode, boolean last, int msn, long offset, int payload) {
        MemorySegment s = MemorySegment.ofArray(new byte[Ddp.UNTAGGED_BYTES + payload]);
        Ddp.writeUntagged(s, 0, opcode, last, 0, msn, offset);
        return fpdu(pattern(s, Ddp.UNTAGGED_BYTES));
    }

    static byte[] readRequest(int msn, int sinkStag, long sink, long bytes, int sourceStag, long source) {
        MemorySegment s = MemorySegment.ofArray(new byte[Ddp.UNTAGGED_BYTES + ReadRequest.BYTES]);
        Ddp.writeUntagged(s, 0, RdmapOpcode.READ_REQUEST, true, 0, msn, 0);
        ReadRequest.write(s, Ddp.UNTAGGED_BYTES, sinkStag, sink, bytes, sourceStag, source);
        return fpdu(s);
    }

    static byte[] atomicRequest(
            int msn, int operation, int stag, long offset, long add, long addMask, long compare, long compareMask) {
        MemorySegment s = MemorySegment.ofArray(new byte[Ddp.UNTAGGED_BYTES + AtomicRequest.BYTES]);
        Ddp.writeUntagged(s, 0, RdmapOpcode.ATOMIC_REQUEST, true, 0, msn, 0);
        AtomicRequest.write(s, Ddp.UNTAGGED_BYTES, operation, 77, stag, offset, add, addMask, compare, compareMask);
        return fpdu(s);
    }

    static byte[] atomicResponse(int msn, int identifier, long original) {
        MemorySegment s = MemorySegment.ofArray(new byte[Ddp.UNTAGGED_BYTES + AtomicResponse.BYTES]);
        Ddp.writeUntagged(s, 0, RdmapOpcode.ATOMIC_RESPONSE, true, 0, msn, 0);
        AtomicResponse.write(s, Ddp.UNTAGGED_BYTES, identifier, original);
        return fpdu(s);
    }

    /// With one of its bytes, counted from the length in front, replaced.
    static byte[] with(byte[] fpdu, int at, int value) {
        byte[] changed = fpdu.clone();
        changed[at] = (byte) value;
        return changed;
    }

    /// With its CRC in place.
    static byte[] sealed(byte[] fpdu) {
        byte[] changed = fpdu.clone();
        var crc = new CRC32C();
        crc.update(changed, 0, changed.length - Fpdu.CRC_BYTES);
        Fpdu.setCrc(MemorySegment.ofArray(changed), changed.length - Fpdu.CRC_BYTES, (int) crc.getValue());
        return changed;
    }

    static byte[] fpdu(MemorySegment ulpdu) {
        int length = (int) ulpdu.byteSize();
        byte[] all = new byte[Fpdu.length(length)];
        MemorySegment s = MemorySegment.ofArray(all);
        Fpdu.setUlpduLength(s, 0, length);
        MemorySegment.copy(ulpdu, 0, s, Fpdu.LENGTH_BYTES, length);
        return all;
    }

    private static MemorySegment pattern(MemorySegment s, int from) {
        for (long i = from; i < s.byteSize(); i++) {
            s.set(ValueLayout.JAVA_BYTE, i, (byte) (3 * (i - from) + 1));
        }
        return s;
    }

    /// The ULPDUs of whole FPDUs without markers.
    static List<MemorySegment> ulpdus(byte[] stream) {
        var all = new ArrayList<MemorySegment>();
        MemorySegment s = Arena.ofAuto().allocate(Math.max(1, stream.length), 8);
        MemorySegment.copy(stream, 0, s, ValueLayout.JAVA_BYTE, 0, stream.length);
        for (int at = 0; at < stream.length; ) {
            int length = Fpdu.ulpduLength(s, at);
            all.add(s.asSlice(at + Fpdu.LENGTH_BYTES, length));
            at += Fpdu.length(length);
        }
        return all;
    }
}
