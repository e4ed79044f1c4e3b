package verbena.verbs;

/// Abilities of a device ([DeviceAttributes#capabilities()]). A program asks for one before a verb throws
/// [UnsupportedException]. Immutable.
///
/// @since 0.1
public enum Capability {
    RC,
    UC,
    UD,
    SRQ,
    /// Queue pairs of whole Ethernet frames: [QueuePair#attachFlow]. A software device has it where the process has
    /// CAP_NET_RAW.
    RAW_PACKET,
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
    /// Memory that need not be there: [Access#ON_DEMAND]. [DeviceAttributes#onDemandPaging()] says for what.
    ON_DEMAND_PAGING,
    /// A region without memory: [ProtectionDomain#allocateNull()].
    NULL_REGION,
    /// Memory of another device is registered: [ProtectionDomain#registerDmaBuf].
    DMA_BUF,
    /// The device has memory for programs: [Context#allocateDeviceMemory].
    DEVICE_MEMORY,
    SQ_DRAIN,
    /// Connected queue pairs migrate to an alternate path: [QpModification#alternatePath].
    PATH_MIGRATION,
    /// Completions have a time stamp of the device's clock: [CompletionQueueOptions#withTimestamps()].
    COMPLETION_TIMESTAMPS,
    /// Queue pairs can be connected by exchanging [Endpoint]s, and by modifying them to RTR and RTS. A device
    /// without this ability connects them by its connection manager only.
    ENDPOINTS,
    /// Connections by address and port ([verbena.verbs.cm]).
    CONNECTION_MANAGER,
    /// Both ends of such a connection prove that they know a secret
    /// ([verbena.verbs.cm.ConnectionParameters#withSecret]).
    CONNECTION_SECRETS
}
