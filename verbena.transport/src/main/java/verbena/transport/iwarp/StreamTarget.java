package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;

/// Where the next bytes of a stream may be read to: a place in a region's memory. Valid until anything else
/// happens, and as long as the memory's arena is open.
public final class StreamTarget {
    /// All of the region's memory.
    public MemorySegment segment = MemorySegment.NULL;
    /// Where in it the place begins.
    public long offset;
    /// Room there, in bytes.
    public int bytes;

    /// Nowhere yet.
    public StreamTarget() {}
}
