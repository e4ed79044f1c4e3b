package verbena.verbs.spi;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Capability;
import verbena.verbs.Preview;
import verbena.verbs.QpType;
import verbena.verbs.WcOpcode;

/// The operation of a send request. Each method of [verbena.verbs.SendBatch] that begins a request begins one of
/// these, and none begins [#FAULTY]. Immutable.
///
/// @since 0.1
@Preview
public enum SendOperation {
    /// A SEND without immediate data or a key.
    SEND(WcOpcode.SEND, null),
    /// A SEND with immediate data.
    SEND_WITH_IMMEDIATE(WcOpcode.SEND, Capability.SEND_WITH_IMMEDIATE),
    /// A SEND that invalidates a key of the peer.
    SEND_WITH_INVALIDATE(WcOpcode.SEND, Capability.SEND_WITH_INVALIDATE),
    /// A WRITE without immediate data.
    WRITE(WcOpcode.RDMA_WRITE, Capability.RDMA_WRITE),
    /// A WRITE with immediate data, which takes a receive of the peer.
    WRITE_WITH_IMMEDIATE(WcOpcode.RDMA_WRITE, Capability.IMMEDIATE_DATA),
    /// A READ of the peer's memory.
    READ(WcOpcode.RDMA_READ, Capability.RDMA_READ),
    /// An atomic addition to 8 bytes of the peer, which returns their former value.
    FETCH_ADD(WcOpcode.FETCH_ADD, Capability.ATOMICS),
    /// An atomic comparison of 8 bytes of the peer, which replaces them if they are equal.
    COMPARE_SWAP(WcOpcode.COMP_SWAP, Capability.ATOMICS),
    /// A WRITE of 8 bytes that the peer sees all at once.
    ATOMIC_WRITE(WcOpcode.ATOMIC_WRITE, Capability.ATOMIC_WRITE),
    /// A FLUSH: its completion says that what was written before is visible, or persistent, at the peer. Both
    /// [verbena.verbs.SendBatch#flush] and [verbena.verbs.SendBatch#flushRegion] begin it.
    FLUSH(WcOpcode.FLUSH, Capability.FLUSH),
    /// An invalidation of a key of this side.
    LOCAL_INVALIDATE(WcOpcode.LOCAL_INV, Capability.LOCAL_INVALIDATE),
    /// A binding of a memory window to a range of a region. Each device that makes windows binds them.
    BIND_WINDOW(WcOpcode.BIND_MW, null),
    /// A request of a C program that no device can carry out: it fails in its turn, with a status, and takes no data.
    /// Only the library for C programs begins it.
    FAULTY(WcOpcode.SEND, null);

    private final WcOpcode completion;
    private final @Nullable Capability capability;

    SendOperation(WcOpcode completion, @Nullable Capability capability) {
        this.completion = completion;
        this.capability = capability;
    }

    /// Returns the opcode of the operation's completion.
    public WcOpcode completion() {
        return completion;
    }

    /// Returns the capability that a device declares if it has the operation; null when every device has it.
    public @Nullable Capability capability() {
        return capability;
    }

    /// Returns whether queue pairs of a type take the operation (IBTA 9.8, table 38 and 10.8.2). An XRC target takes
    /// none.
    public boolean isOf(QpType type) {
        if (type == QpType.XRC_TARGET) {
            return false;
        }
        return switch (this) {
            case SEND, FAULTY -> true;
            case SEND_WITH_IMMEDIATE -> type != QpType.RAW_PACKET;
            case WRITE, WRITE_WITH_IMMEDIATE, LOCAL_INVALIDATE, BIND_WINDOW ->
                type != QpType.UD && type != QpType.RAW_PACKET;
            case SEND_WITH_INVALIDATE, READ, FETCH_ADD, COMPARE_SWAP ->
                type == QpType.RC || type == QpType.XRC_INITIATOR;
            case ATOMIC_WRITE, FLUSH -> type == QpType.RC;
        };
    }

    /// Returns whether the operation is an extension, which many peers do not know and leave without an answer. A
    /// queue pair takes it only by its options ([verbena.verbs.QueuePairOptions#withExtensions]).
    public boolean isExtension() {
        return this == ATOMIC_WRITE || this == FLUSH;
    }

    /// Returns whether a response of its own completes the operation, rather than an ACK.
    public boolean needsResponse() {
        return this == READ || this == FETCH_ADD || this == COMPARE_SWAP || isExtension();
    }

    /// Returns whether the operation sends nothing to the peer.
    public boolean isLocal() {
        return this == LOCAL_INVALIDATE || this == BIND_WINDOW || this == FAULTY;
    }

    /// Returns whether the operation is `FETCH_ADD` or `COMPARE_SWAP`.
    public boolean isAtomic() {
        return this == FETCH_ADD || this == COMPARE_SWAP;
    }

    /// Returns whether the operation names local memory: data to send, or room for a response.
    public boolean takesEntries() {
        return !isLocal() && !isExtension();
    }

    /// Returns whether the operation carries data to the peer.
    public boolean carriesData() {
        return !isLocal() && !needsResponse();
    }
}
