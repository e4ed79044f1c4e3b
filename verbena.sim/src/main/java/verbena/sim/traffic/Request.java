package verbena.sim.traffic;

import verbena.verbs.WcOpcode;

/// A send request as the model keeps it until it has completed; used again and again.
final class Request {
    enum Kind {
        SEND(WcOpcode.SEND, true),
        SEND_IMMEDIATE(WcOpcode.SEND, true),
        SEND_INVALIDATE(WcOpcode.SEND, true),
        WRITE(WcOpcode.RDMA_WRITE, false),
        WRITE_IMMEDIATE(WcOpcode.RDMA_WRITE, true),
        READ(WcOpcode.RDMA_READ, false),
        FETCH_ADD(WcOpcode.FETCH_ADD, false),
        COMPARE_SWAP(WcOpcode.COMP_SWAP, false),
        ATOMIC_WRITE(WcOpcode.ATOMIC_WRITE, false),
        FLUSH(WcOpcode.FLUSH, false),
        BIND(WcOpcode.BIND_MW, false),
        INVALIDATE(WcOpcode.LOCAL_INV, false);

        final WcOpcode opcode;
        /// Whether the peer gets a completion for it.
        final boolean completesAtPeer;

        Kind(WcOpcode opcode, boolean completesAtPeer) {
            this.opcode = opcode;
            this.completesAtPeer = completesAtPeer;
        }

        boolean isWrite() {
            return this == WRITE || this == WRITE_IMMEDIATE;
        }

        /// Returns whether it changes a word.
        boolean isAtomic() {
            return this == FETCH_ADD || this == COMPARE_SWAP || this == ATOMIC_WRITE;
        }

        boolean hasImmediate() {
            return this == SEND_IMMEDIATE || this == WRITE_IMMEDIATE;
        }
    }

    /// The wrId: counts the requests of an end.
    long number;
    Kind kind = Kind.SEND;
    boolean signaled;
    /// The data's place on the tape.
    int place;
    int length;
    /// The number of the message among those of an end.
    long message;
    int immediate;
    /// The number of the peer's receive queue that it names, of an extended connection.
    int queue;
    /// The slot in the memory for longer READs; -1 for none.
    int longSlot = -1;
    /// Whether its key is that of a window.
    boolean throughWindow;
    /// The key that a SEND withdraws.
    int key;
    /// The word of an atomic, and its value before and after.
    int word;
    long before;
    long after;

    @Override
    public String toString() {
        return "request " + number + " (" + kind + ", " + length + " bytes of the tape from " + place + ")";
    }
}
