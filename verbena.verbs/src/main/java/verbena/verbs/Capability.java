package verbena.verbs;

/// What a device can do, so that a program can ask before it is refused ([UnsupportedException]).
public enum Capability {
    RC,
    UC,
    UD,
    SRQ,
    RDMA_READ,
    RDMA_WRITE,
    ATOMICS,
    IMMEDIATE_DATA,
    SEND_WITH_INVALIDATE,
    LOCAL_INVALIDATE,
    MEMORY_WINDOW_TYPE_1,
    MEMORY_WINDOW_TYPE_2,
    FLUSH,
    ATOMIC_WRITE,
    MULTICAST,
    RESIZE_CQ,
    REREGISTER,
    ZERO_BASED,
    IOVA,
    ON_DEMAND_PAGING,
    SQ_DRAIN,
    /// Connections by address and port ([verbena.verbs.cm]).
    CONNECTION_MANAGER
}
