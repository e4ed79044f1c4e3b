package verbena.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/// The path to a peer's port (`struct ibv_ah_attr`, ibv_create_ah(3)). RoCE routes by GID, InfiniBand by LID.
/// Immutable; the constructor throws [IllegalArgumentException] for a value out of range.
///
/// @param destination GID of the peer
/// @param sourceGidIndex index of the own GID to send from, 0 to 65,535
/// @param port own port, 1 to 255
/// @param trafficClass IPv6 traffic class or IPv4 TOS, 0 to 255
/// @param hopLimit time to live, 1 to 255
/// @param flowLabel 20 bits that choose the UDP source port on RoCE v2; 0 lets the device choose
/// @param serviceLevel 0 to 15
/// @param destinationLid 16 bits, InfiniBand only; 0 otherwise. With the GID `::` the packets have no GRH
/// @param sourcePathBits low bits of the own LID to send from (LMC), 0 to 127; InfiniBand only
/// @param staticRate highest mean rate of packets (IBTA 9.11), where the port's link is faster; only InfiniBand
///     devices apply it
/// @since 0.1
public record AddressVector(
        Gid destination,
        int sourceGidIndex,
        int port,
        int trafficClass,
        int hopLimit,
        int flowLabel,
        int serviceLevel,
        int destinationLid,
        int sourcePathBits,
        StaticRate staticRate) {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final Gid NONE = new Gid(0, 0);

    @Preview
    public AddressVector {
        Objects.requireNonNull(destination, "destination");
        Checks.range("sourceGidIndex", sourceGidIndex, 0, 65_535);
        Checks.range("port", port, 1, 255);
        Checks.range("trafficClass", trafficClass, 0, 255);
        Checks.range("hopLimit", hopLimit, 1, 255);
        Checks.range("flowLabel", flowLabel, 0, 0xF_FFFF);
        Checks.range("serviceLevel", serviceLevel, 0, 15);
        Checks.range("destinationLid", destinationLid, 0, 0xFFFF);
        Checks.range("sourcePathBits", sourcePathBits, 0, 127);
        Objects.requireNonNull(staticRate, "staticRate");
    }

    /// Returns the usual path: port 1, hop limit 64, no traffic class.
    public static AddressVector to(Gid destination, int sourceGidIndex) {
        return new AddressVector(destination, sourceGidIndex, 1, 0, 64, 0, 0, 0, 0, StaticRate.PORT);
    }

    /// Returns the path back to the sender of a datagram, with the datagram's traffic class. On InfiniBand it also
    /// has its service level, and starts at the LID that the datagram came to.
    ///
    /// @param received the completion of the datagram's receive
    /// @param area the first 40 bytes of its receive, before the data: a GRH or IPv6 header, or 20 undefined bytes
    ///     and an IPv4 header (IBTA A17.4.5.1). Without [WorkCompletion#hasGrh()] their content is undefined
    /// @param context of the device that received it
    /// @param port that it came by, which is that of the queue pair ([QueuePairAttributes#port()])
    /// @throws IllegalArgumentException when the completion is not that of a datagram, or `port` is not 1 to 255;
    ///     with [WorkCompletion#hasGrh()] also when `area` is shorter than 40 bytes, or the device has no such port
    /// @throws DeviceException when a datagram to a group came from a peer that no own address can reach
    public static AddressVector toSender(WorkCompletion received, MemorySegment area, Context context, int port) {
        boolean isGlobal = received.hasGrh();
        if (!received.ok() || (!isGlobal && received.sourceLid() == 0)) {
            throw new IllegalArgumentException("received: no datagram's completion: " + received);
        }
        AddressVector back = (isGlobal ? toSender(area, context, port) : to(NONE, 0)).withPort(port);
        return received.sourceLid() == 0
                ? back
                : back.withDestinationLid(received.sourceLid())
                        .withServiceLevel(received.serviceLevel())
                        .withSourcePathBits(received.pathBits());
    }

    private static AddressVector toSender(MemorySegment area, Context context, int port) {
        if (area.byteSize() < 40) {
            throw new IllegalArgumentException("area: 40 bytes, got " + area.byteSize());
        }
        boolean isIpv4 = isIpv4(area);
        Gid source = isIpv4 ? ipv4(area, 32) : gid(area, 8);
        Gid destination = isIpv4 ? ipv4(area, 36) : gid(area, 24);
        int trafficClass = isIpv4 ? area.get(JAVA_BYTE, 21) & 0xFF : area.get(INT, 0) >>> 20 & 0xFF;
        int own = context.gids(port).stream()
                .filter(entry -> entry.gid().equals(destination))
                .findFirst()
                .orElseGet(() -> context.gidFor(port, source)) // it came to a multicast group
                .index();
        return to(source, own).withTrafficClass(trafficClass);
    }

    /// Decides as libibverbs does: an IPv6 header has its version in front, and nothing in it looks like an IPv4
    /// header with the right checksum.
    private static boolean isIpv4(MemorySegment area) {
        if (area.get(JAVA_BYTE, 20) != 0x45) {
            return false;
        }
        int sum = 0;
        for (int i = 20; i < 40; i += 2) {
            sum += area.get(SHORT, i) & 0xFFFF;
        }
        boolean checksumIsRight = (sum & 0xFFFF) + (sum >>> 16) == 0xFFFF;
        return area.get(JAVA_BYTE, 0) >>> 4 != 6 || checksumIsRight;
    }

    private static Gid ipv4(MemorySegment area, int offset) {
        return new Gid(0, 0xFFFF_0000_0000L | Integer.toUnsignedLong(area.get(INT, offset)));
    }

    private static Gid gid(MemorySegment area, int offset) {
        return new Gid(area.get(LONG, offset), area.get(LONG, offset + 8));
    }

    /// Returns this address vector from another own port, 1 to 255.
    public AddressVector withPort(int port) {
        return inPort(port, serviceLevel, destinationLid, sourcePathBits, staticRate);
    }

    /// Returns this address vector with another IPv6 traffic class or IPv4 TOS, 0 to 255. On RoCE its upper six bits
    /// are the DSCP, by which switches choose a queue.
    public AddressVector withTrafficClass(int trafficClass) {
        return inGrh(trafficClass, hopLimit, flowLabel);
    }

    /// Returns this address vector with another time to live, 1 to 255; each router on the way takes one off.
    public AddressVector withHopLimit(int hopLimit) {
        return inGrh(trafficClass, hopLimit, flowLabel);
    }

    /// Returns this address vector with another flow label, 20 bits. On RoCE v2 it determines the UDP source port, by
    /// which routers spread flows over paths; 0 lets the device choose.
    public AddressVector withFlowLabel(int flowLabel) {
        return inGrh(trafficClass, hopLimit, flowLabel);
    }

    /// Returns this address vector with another service level, 0 to 15, by which an InfiniBand switch chooses a
    /// virtual lane. On RoCE its low three bits are the priority in a VLAN's tag.
    public AddressVector withServiceLevel(int serviceLevel) {
        return inPort(port, serviceLevel, destinationLid, sourcePathBits, staticRate);
    }

    /// Returns this address vector with another LID of the peer's port, 16 bits; InfiniBand only.
    public AddressVector withDestinationLid(int lid) {
        return inPort(port, serviceLevel, lid, sourcePathBits, staticRate);
    }

    /// Returns this address vector from another of the LIDs of the own port, named by the low bits in which they
    /// differ (LMC), 0 to 127; InfiniBand only.
    public AddressVector withSourcePathBits(int bits) {
        return inPort(port, serviceLevel, destinationLid, bits, staticRate);
    }

    /// Returns this address vector with another highest mean rate of packets, for a slow peer behind a fast link;
    /// only InfiniBand devices apply it.
    public AddressVector withStaticRate(StaticRate rate) {
        return inPort(port, serviceLevel, destinationLid, sourcePathBits, rate);
    }

    /// Returns this address vector with other values for the GRH, or the IP header of RoCE v2.
    private AddressVector inGrh(int trafficClass, int hopLimit, int flowLabel) {
        return new AddressVector(
                destination,
                sourceGidIndex,
                port,
                trafficClass,
                hopLimit,
                flowLabel,
                serviceLevel,
                destinationLid,
                sourcePathBits,
                staticRate);
    }

    /// Returns this address vector with other values for the own port and the header of its link.
    private AddressVector inPort(int port, int serviceLevel, int lid, int pathBits, StaticRate rate) {
        return new AddressVector(
                destination,
                sourceGidIndex,
                port,
                trafficClass,
                hopLimit,
                flowLabel,
                serviceLevel,
                lid,
                pathBits,
                rate);
    }
}
