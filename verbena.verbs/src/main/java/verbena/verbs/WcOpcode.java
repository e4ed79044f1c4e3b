package verbena.verbs;

/// The operation of a completed work request (`enum ibv_wc_opcode`). Immutable.
///
/// @since 0.1
public enum WcOpcode {
    /// A SEND, with or without immediate data.
    SEND(0),
    /// A WRITE, with or without immediate data.
    RDMA_WRITE(1),
    /// A READ.
    RDMA_READ(2),
    /// A compare-and-swap.
    COMP_SWAP(3),
    /// A fetch-and-add.
    FETCH_ADD(4),
    /// The binding of a memory window.
    BIND_MW(5),
    /// The invalidation of a key of this side.
    LOCAL_INV(6),
    /// A FLUSH.
    FLUSH(8),
    /// An ATOMIC WRITE.
    ATOMIC_WRITE(9),
    /// A receive that a SEND of the peer has taken.
    RECV(128),
    /// A receive that a WRITE with immediate data of the peer has taken.
    RECV_RDMA_WITH_IMM(129);

    private final int code;

    WcOpcode(int code) {
        this.code = code;
    }

    /// Returns the value of `enum ibv_wc_opcode`.
    public int code() {
        return code;
    }
}
