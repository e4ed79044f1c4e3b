package verbena.verbs;

/// Abilities of a device ([DeviceAttributes#capabilities()]). A program asks for one before a verb throws
/// [UnsupportedException]. Immutable.
///
/// @since 0.1
public enum Capability {
    /// Reliable connections: [QpType#RC].
    RC,
    /// Unreliable connections: [QpType#UC].
    UC,
    /// Datagrams: [QpType#UD].
    UD,
    /// Shared receive queues: [ProtectionDomain#createSharedReceiveQueue].
    SRQ,
    /// Queue pairs of whole Ethernet frames: [QueuePair#attachFlow]. A software device has it where the process has
    /// CAP_NET_RAW.
    RAW_PACKET,
    /// Extended reliable connections: [Context#openXrcDomain].
    XRC,
    /// READs.
    RDMA_READ,
    /// WRITEs.
    RDMA_WRITE,
    /// Fetch-and-add, and compare-and-swap, of 8 bytes.
    ATOMICS,
    /// A WRITE with immediate data.
    IMMEDIATE_DATA,
    /// A SEND with immediate data.
    SEND_WITH_IMMEDIATE,
    /// A SEND that invalidates a key of the peer.
    SEND_WITH_INVALIDATE,
    /// A request that invalidates a key of this side.
    LOCAL_INVALIDATE,
    /// Memory windows that a verb binds.
    MEMORY_WINDOW_TYPE_1,
    /// Memory windows that a request of a queue pair binds.
    MEMORY_WINDOW_TYPE_2,
    /// FLUSH (IBTA A19): [QueuePairOptions#extensions()] asks for it.
    FLUSH,
    /// A WRITE of 8 bytes that a reader sees whole (IBTA A19): [QueuePairOptions#extensions()] asks for it.
    ATOMIC_WRITE,
    /// Datagrams to multicast groups.
    MULTICAST,
    /// Completion queues whose size can be changed.
    RESIZE_CQ,
    /// Regions that can be registered anew, with another protection domain or other rights, never with other memory.
    REREGISTER,
    /// Regions whose addresses count from 0: [Access#ZERO_BASED].
    ZERO_BASED,
    /// Regions that peers address from a number on that the program chooses.
    IOVA,
    /// Memory that need not be there: [Access#ON_DEMAND]. [DeviceAttributes.MemoryLimits#onDemandPaging()] says
    /// for what.
    ON_DEMAND_PAGING,
    /// A region without memory: [ProtectionDomain#allocateNull()].
    NULL_REGION,
    /// Memory of another device is registered: [ProtectionDomain#registerDmaBuf].
    DMA_BUF,
    /// The device has memory for programs: [Context#allocateDeviceMemory].
    DEVICE_MEMORY,
    /// A send queue that can be drained: [QpState#SQD].
    SQ_DRAIN,
    /// Connected queue pairs migrate to an alternate path: [QpModification#withAlternatePath].
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
