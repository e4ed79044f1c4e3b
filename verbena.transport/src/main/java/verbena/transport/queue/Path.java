package verbena.transport.queue;

import verbena.verbs.Gid;
import verbena.wire.ib.Grh;
import verbena.wire.ib.NativePacket;

/// The path of a packet: its addresses, and the other fields of the network headers. It is an
/// [verbena.verbs.AddressVector] whose own GID has been looked up.
///
/// @param trafficClass IPv4 TOS or IPv6 traffic class
/// @param hopLimit time to live
/// @param sourcePort UDP source port to claim; 0 leaves it to the link
/// @param serviceLevel 0 to 15
/// @param destinationLid InfiniBand only; 0 otherwise
/// @param sourcePathBits which of the own LIDs; InfiniBand only
/// @param bitsPerSecond how fast packets may leave, with their headers of the link and the network; 0: as fast as the
///     link
public record Path(
        long sourceHigh,
        long sourceLow,
        long destinationHigh,
        long destinationLow,
        int trafficClass,
        int hopLimit,
        int sourcePort,
        int serviceLevel,
        int destinationLid,
        int sourcePathBits,
        long bitsPerSecond) {
    /// Ethernet with its checksum, IPv4 and UDP.
    private static final int AROUND_UDP_BYTES = 18 + 20 + 8;

    /// The path that leads nowhere.
    public static final Path NONE = new Path(0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0);

    public static Path of(Gid source, Gid destination, int trafficClass, int hopLimit) {
        return new Path(
                source.high(),
                source.low(),
                destination.high(),
                destination.low(),
                trafficClass,
                hopLimit,
                0,
                0,
                0,
                0,
                0);
    }

    /// Returns the bytes around a packet on the wire: before its BTH, and behind its ICRC.
    public int aroundPacketBytes() {
        if (destinationLid == 0) {
            return AROUND_UDP_BYTES;
        }
        return NativePacket.isByLid(destinationHigh, destinationLow)
                ? NativePacket.AROUND_MAX - Grh.BYTES
                : NativePacket.AROUND_MAX;
    }
}
