package verbena.verbs;

/// The encapsulation of packets that a GID addresses (`enum ibv_gid_type`, ibv_query_gid_ex(3)). Immutable.
///
/// @since 0.1
public enum GidType {
    /// InfiniBand.
    IB("IB"),
    /// RoCE v1: InfiniBand transport in Ethernet, type 0x8915 (IBTA A16).
    ROCE_V1("RoCE v1"),
    /// RoCE v2: InfiniBand transport in UDP port 4791 (IBTA A17).
    ROCE_V2("RoCE v2"),
    /// iWARP: the GID names the network interface, and TCP addresses the peer.
    IWARP("iWARP");

    private final String label;

    GidType(String label) {
        this.label = label;
    }

    /// Returns the name that rdma-core prints, for example `RoCE v2`.
    @Override
    public String toString() {
        return label;
    }
}
