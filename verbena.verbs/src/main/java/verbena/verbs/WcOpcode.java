package verbena.verbs;

/// The operation of a completed work request (`enum ibv_wc_opcode`). Immutable.
///
/// @since 0.1
public enum WcOpcode {
    SEND(0),
    RDMA_WRITE(1),
    RDMA_READ(2),
    COMP_SWAP(3),
    FETCH_ADD(4),
    BIND_MW(5),
    LOCAL_INV(6),
    FLUSH(8),
    ATOMIC_WRITE(9),
    RECV(128),
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
