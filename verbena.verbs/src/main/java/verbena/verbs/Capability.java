package verbena.verbs;

/// Abilities of a device, for programs that ask before they are refused ([UnsupportedException]).
public enum Capability {
    RC,
    UC,
    UD,
    SRQ,
    /// Extended reliable connections: [Context#openXrcDomain].
    XRC,
    RDMA_READ,
    RDMA_WRITE,
    ATOMICS,
    /// A WRITE with immediate data.
    IMMEDIATE_DATA,
    /// A SEND with immediate data.
    SEND_WITH_IMMEDIATE,
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
    /// Memory of another device is registered: [ProtectionDomain#registerDmaBuf].
    DMA_BUF,
    SQ_DRAIN,
    /// Connected queue pairs migrate to an alternate path: [QpModification#alternatePath].
    PATH_MIGRATION,
    /// Completions say when, by the device's clock: [CompletionQueueOptions#withTimestamps()].
    COMPLETION_TIMESTAMPS,
    /// Queue pairs are connected by what their [Endpoint]s say, and by modifying them to RTR and RTS; where this
    /// is missing only the connection manager does it.
    ENDPOINTS,
    /// Connections by address and port ([verbena.verbs.cm]).
    CONNECTION_MANAGER,
    /// Both ends of such a connection prove that they know a secret
    /// ([verbena.verbs.cm.ConnectionParameters#withSecret]).
    CONNECTION_SECRETS
}
