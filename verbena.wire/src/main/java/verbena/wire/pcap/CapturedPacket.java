package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;

/// One packet of a capture file.
///
/// @param nanos its time, in nanoseconds since 1970
/// @param linkType the kind of its first header; see [LinkType]
/// @param originalBytes its length on the wire, at least the length of the kept bytes
/// @param bytes the kept bytes; memory of its own
/// @param comment the comment beside it in a pcapng file; empty for none
public record CapturedPacket(long nanos, int linkType, long originalBytes, MemorySegment bytes, String comment) {
    /// Returns whether the capture cut the packet short.
    public boolean isTruncated() {
        return originalBytes > bytes.byteSize();
    }
}
