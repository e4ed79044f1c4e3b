package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;

/// One packet of a capture file.
///
/// @param nanos when it was seen, in nanoseconds since 1970
/// @param linkType what the first byte is; see [LinkType]
/// @param originalBytes how long it was on the wire, at least as long as what was kept of it
/// @param bytes what was kept; memory of its own
/// @param comment what stands beside it in a pcapng file; empty for nothing
public record CapturedPacket(long nanos, int linkType, long originalBytes, MemorySegment bytes, String comment) {
    /// Whether the capture cut it short.
    public boolean isTruncated() {
        return originalBytes > bytes.byteSize();
    }
}
