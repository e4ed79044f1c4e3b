package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.RdmapOpcode;

/// The DDP segment that is arriving. Engine-confined.
final class Segment {
    /// The memory of its header; valid while the header is looked at.
    MemorySegment in = MemorySegment.NULL;
    /// The offset in that memory at which the header begins.
    int header;
    boolean isTagged;
    int headerBytes;
    /// Payload that has not arrived, or is not placed yet.
    int payloadLeft;
    /// Whether its message ends with it.
    boolean isLast;

    RdmapOpcode opcode = RdmapOpcode.WRITE;
    /// The key that a WRITE or READ response goes to, or that a SEND withdraws.
    int stag;
    /// The offset in the memory of that key for the next payload.
    long address;

    /// Begins a segment, whose header has arrived.
    ///
    /// @param ulpduBytes of header and payload
    void begin(MemorySegment from, int at, int ulpduBytes) {
        in = from;
        header = at;
        isTagged = Ddp.isTagged(from, at);
        headerBytes = headerBytes(from, at);
        payloadLeft = ulpduBytes - headerBytes;
        isLast = Ddp.isLast(from, at);
    }

    static int headerBytes(MemorySegment in, int at) {
        return Ddp.isTagged(in, at) ? Ddp.TAGGED_BYTES : Ddp.UNTAGGED_BYTES;
    }

    /// Returns the offset of its payload.
    int payload() {
        return header + headerBytes;
    }
}
