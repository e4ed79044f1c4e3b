package verbena.wire;

/// The route of a packet within a subnet, where a link shows it or needs it: between Ethernet addresses, or between
/// LIDs.
public final class LocalRoute {
    /// Whether a GRH stands before the packet (RoCE v1), and not IP and UDP. Links write it, in both directions.
    public boolean isRoceV1;
    /// The Ethernet addresses that it travels between, 48 bits each; both 0 where no link knows them.
    public long sourceMac;

    public long destinationMac;
    /// The VLAN tag beside them, 16 bits; -1 for none.
    public int vlanTag = -1;
    /// The LIDs that it travels between on a native InfiniBand link, 16 bits each; 0 elsewhere.
    public int sourceLid;

    public int destinationLid;
    /// The low bits of the port's LID to which a received packet came; 0 where a port has one LID.
    public int pathBits;

    LocalRoute() {}

    void copyFrom(LocalRoute other) {
        isRoceV1 = other.isRoceV1;
        sourceMac = other.sourceMac;
        destinationMac = other.destinationMac;
        vlanTag = other.vlanTag;
        sourceLid = other.sourceLid;
        destinationLid = other.destinationLid;
        pathBits = other.pathBits;
    }
}
