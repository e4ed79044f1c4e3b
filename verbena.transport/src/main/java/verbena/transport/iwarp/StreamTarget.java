package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;

/// The place in a region's memory that the next bytes of a stream may be read to. Valid until anything else happens,
/// and as long as the memory's arena is open.
public final class StreamTarget {
    /// The region's whole memory.
    public MemorySegment segment = MemorySegment.NULL;
    /// The offset in it at which the place begins.
    public long offset;
    /// Room there, in bytes.
    public int bytes;

    /// Begins without a place.
    public StreamTarget() {}
}
