package verbena.transport.queue;

import verbena.verbs.WcOpcode;

/// What a send request asks for.
public enum SendOperation {
    SEND(WcOpcode.SEND),
    SEND_WITH_IMMEDIATE(WcOpcode.SEND),
    SEND_WITH_INVALIDATE(WcOpcode.SEND),
    WRITE(WcOpcode.RDMA_WRITE),
    WRITE_WITH_IMMEDIATE(WcOpcode.RDMA_WRITE),
    READ(WcOpcode.RDMA_READ),
    FETCH_ADD(WcOpcode.FETCH_ADD),
    COMPARE_SWAP(WcOpcode.COMP_SWAP),
    ATOMIC_WRITE(WcOpcode.ATOMIC_WRITE),
    FLUSH(WcOpcode.FLUSH),
    LOCAL_INVALIDATE(WcOpcode.LOCAL_INV),
    BIND_WINDOW(WcOpcode.BIND_MW),
    /// Nothing that could be carried out: it fails as its poster has said, in its turn.
    FAULTY(WcOpcode.SEND);

    private final WcOpcode completion;

    SendOperation(WcOpcode completion) {
        this.completion = completion;
    }

    /// What its completion says.
    public WcOpcode completion() {
        return completion;
    }

    /// Whether it completes by a response of its own rather than an ACK.
    public boolean needsResponse() {
        return this == READ || this == FETCH_ADD || this == COMPARE_SWAP || this == ATOMIC_WRITE || this == FLUSH;
    }

    /// Whether it never leaves this side.
    public boolean isLocal() {
        return this == LOCAL_INVALIDATE || this == BIND_WINDOW || this == FAULTY;
    }

    public boolean isAtomic() {
        return this == FETCH_ADD || this == COMPARE_SWAP;
    }
}
