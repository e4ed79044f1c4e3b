package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;

/// The headers around a RoCE packet, as far as they are not in the [verbena.wire.Frame]: with both, the captured
/// bytes can be built again.
///
/// @param linkType the kind of its first header; see [LinkType]
/// @param linkHeader everything before the network header: for Ethernet the addresses, VLAN tags and type; for
///     InfiniBand everything before the BTH
/// @param roceV1 whether a GRH and no UDP follows
/// @param ipv4Identification 0 unless IPv4
/// @param ipv4FlagsFragment three flags and 13 bits of fragment offset; 0 unless IPv4
/// @param flowLabel of the IPv6 header or GRH; 0 for IPv4
/// @param udpChecksum as it was; hardware and soft-RoCE send 0
public record Envelope(
        int linkType,
        MemorySegment linkHeader,
        boolean roceV1,
        int ipv4Identification,
        int ipv4FlagsFragment,
        int flowLabel,
        int udpChecksum) {}
