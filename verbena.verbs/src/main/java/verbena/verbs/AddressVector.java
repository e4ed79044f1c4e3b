package verbena.verbs;

import java.util.Objects;

/// The way to a peer's port (`struct ibv_ah_attr`, ibv_create_ah(3)). RoCE always goes by GID.
///
/// @param destination GID of the peer
/// @param sourceGidIndex which of the port's own GIDs to send from
/// @param port own port, from 1
/// @param trafficClass IPv6 traffic class or IPv4 TOS, 0 to 255
/// @param hopLimit time to live, 1 to 255
/// @param flowLabel 20 bits that choose the UDP source port on RoCE v2; 0 lets the device choose
/// @param serviceLevel 0 to 15
/// @param destinationLid InfiniBand only; 0 otherwise
public record AddressVector(
        Gid destination,
        int sourceGidIndex,
        int port,
        int trafficClass,
        int hopLimit,
        int flowLabel,
        int serviceLevel,
        int destinationLid) {
    public AddressVector {
        Objects.requireNonNull(destination, "destination");
        Checks.range("sourceGidIndex", sourceGidIndex, 0, 65_535);
        Checks.range("port", port, 1, 255);
        Checks.range("trafficClass", trafficClass, 0, 255);
        Checks.range("hopLimit", hopLimit, 1, 255);
        Checks.range("flowLabel", flowLabel, 0, 0xF_FFFF);
        Checks.range("serviceLevel", serviceLevel, 0, 15);
        Checks.range("destinationLid", destinationLid, 0, 0xFFFF);
    }

    /// The usual way: port 1, hop limit 64, no traffic class.
    public static AddressVector to(Gid destination, int sourceGidIndex) {
        return new AddressVector(destination, sourceGidIndex, 1, 0, 64, 0, 0, 0);
    }

    /// The same way with another traffic class.
    public AddressVector withTrafficClass(int trafficClass) {
        return new AddressVector(
                destination, sourceGidIndex, port, trafficClass, hopLimit, flowLabel, serviceLevel, destinationLid);
    }

    /// The same way with another service level.
    public AddressVector withServiceLevel(int serviceLevel) {
        return new AddressVector(
                destination, sourceGidIndex, port, trafficClass, hopLimit, flowLabel, serviceLevel, destinationLid);
    }
}
