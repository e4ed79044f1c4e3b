package verbena.verbs.spi;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Capability;
import verbena.verbs.Preview;
import verbena.verbs.QpType;
import verbena.verbs.WcOpcode;

/// The operation of a send request. The methods of [verbena.verbs.SendBatch] that begin a request name it. Immutable.
///
/// @since 0.1
@Preview
public enum SendOperation {
    /// A SEND without more.
    SEND(WcOpcode.SEND, null),
    /// A SEND with immediate data.
    SEND_WITH_IMMEDIATE(WcOpcode.SEND, Capability.SEND_WITH_IMMEDIATE),
    /// A SEND that invalidates a key of the peer.
    SEND_WITH_INVALIDATE(WcOpcode.SEND, Capability.SEND_WITH_INVALIDATE),
    /// A WRITE without more.
    WRITE(WcOpcode.RDMA_WRITE, Capability.RDMA_WRITE),
    /// A WRITE that takes a receive of the peer.
    WRITE_WITH_IMMEDIATE(WcOpcode.RDMA_WRITE, Capability.IMMEDIATE_DATA),
    /// A READ.
    READ(WcOpcode.RDMA_READ, Capability.RDMA_READ),
    /// An addition to 8 bytes of the peer.
    FETCH_ADD(WcOpcode.FETCH_ADD, Capability.ATOMICS),
    /// A comparison and replacement of 8 bytes of the peer.
    COMPARE_SWAP(WcOpcode.COMP_SWAP, Capability.ATOMICS),
    /// A WRITE of 8 bytes at once.
    ATOMIC_WRITE(WcOpcode.ATOMIC_WRITE, Capability.ATOMIC_WRITE),
    /// A request that what was written is visible, or persistent.
    FLUSH(WcOpcode.FLUSH, Capability.FLUSH),
    /// A request that ends a key of this side.
    LOCAL_INVALIDATE(WcOpcode.LOCAL_INV, Capability.LOCAL_INVALIDATE),
    /// A binding of a window to a range of a region. Each device that makes windows binds them.
    BIND_WINDOW(WcOpcode.BIND_MW, null),
    /// A request of a C program that cannot be carried out: it fails in its turn, with a status, and takes no data.
    FAULTY(WcOpcode.SEND, null);

    private final WcOpcode completion;
    private final @Nullable Capability capability;

    SendOperation(WcOpcode completion, @Nullable Capability capability) {
        this.completion = completion;
        this.capability = capability;
    }

    /// Returns the opcode of its completion.
    public WcOpcode completion() {
        return completion;
    }

    /// Returns the ability that a device needs for it; null when every device has it.
    public @Nullable Capability capability() {
        return capability;
    }

    /// Returns whether queue pairs of this type take it (IBTA 9.8, table 38 and 10.8.2). An XRC target takes none.
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

    /// Returns whether many peers do not know it and leave it without an answer. A queue pair takes it only by its
    /// options ([verbena.verbs.QueuePairOptions#withExtensions]).
    public boolean isExtension() {
        return this == ATOMIC_WRITE || this == FLUSH;
    }

    /// Returns whether a response of its own completes it, rather than an ACK.
    public boolean needsResponse() {
        return this == READ || this == FETCH_ADD || this == COMPARE_SWAP || isExtension();
    }

    /// Returns whether it never leaves this side.
    public boolean isLocal() {
        return this == LOCAL_INVALIDATE || this == BIND_WINDOW || this == FAULTY;
    }

    /// Returns whether it is FETCH_ADD or CMP_SWAP.
    public boolean isAtomic() {
        return this == FETCH_ADD || this == COMPARE_SWAP;
    }

    /// Returns whether it names local memory: data to send, or room for a response.
    public boolean takesEntries() {
        return !isLocal() && !isExtension();
    }

    /// Returns whether it carries data to the peer.
    public boolean carriesData() {
        return !isLocal() && !needsResponse();
    }
}
