package verbena.sim.model;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.QpType;
import verbena.verbs.WcOpcode;

/// A send request (`struct ibv_send_wr`). Made by [#of], then told what its operation needs; not changed any more
/// once it is posted.
public final class ModelSend {
    /// What a send queue can be asked for (`enum ibv_wr_opcode`).
    public enum Operation {
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
        BIND_WINDOW(WcOpcode.BIND_MW),
        LOCAL_INVALIDATE(WcOpcode.LOCAL_INV);

        private final WcOpcode completion;

        Operation(WcOpcode completion) {
            this.completion = completion;
        }

        /// How its completion is called.
        public WcOpcode completion() {
            return completion;
        }

        /// Into a receive of the peer.
        public boolean isSend() {
            return this == SEND || this == SEND_WITH_IMMEDIATE || this == SEND_WITH_INVALIDATE;
        }

        public boolean isWrite() {
            return this == WRITE || this == WRITE_WITH_IMMEDIATE;
        }

        public boolean isAtomic() {
            return this == FETCH_ADD || this == COMPARE_SWAP;
        }

        /// Done by the device itself; nothing is sent.
        public boolean isLocal() {
            return this == BIND_WINDOW || this == LOCAL_INVALIDATE;
        }

        /// Brings something back, into the request's memory.
        public boolean hasResult() {
            return this == READ || isAtomic();
        }

        /// Takes one of those that a queue pair may have outstanding (`max_rd_atomic`).
        public boolean isAnswered() {
            return hasResult() || this == ATOMIC_WRITE || this == FLUSH;
        }

        public boolean hasImmediate() {
            return this == SEND_WITH_IMMEDIATE || this == WRITE_WITH_IMMEDIATE;
        }

        /// Whether a queue pair of this type can be asked for it (IBTA 10.8.2, table 82).
        public boolean isOf(QpType type) {
            return switch (type) {
                case RC -> true;
                case UC -> this != SEND_WITH_INVALIDATE && !isAnswered();
                case UD -> this == SEND || this == SEND_WITH_IMMEDIATE;
                case XRC_INITIATOR -> extension() == null;
                case XRC_TARGET, RAW_PACKET -> false;
            };
        }

        /// The capability that a queue pair has to be made with for this request; null when every one has it.
        @Nullable
        Capability extension() {
            return switch (this) {
                case ATOMIC_WRITE -> Capability.ATOMIC_WRITE;
                case FLUSH -> Capability.FLUSH;
                default -> null;
            };
        }
    }

    private final Operation operation;
    private final long wrId;
    private boolean signaled;
    private boolean fenced;
    private boolean solicited;
    private List<Piece> pieces = List.of();
    private byte @Nullable [] inline;
    private int number;
    private long remoteAddress;
    private int rkey;
    private long operand;
    private long swap;
    private @Nullable ModelWindow window;
    private @Nullable ModelRegion region;
    private long length;
    private Set<Access> access = Set.of();
    private boolean whole;
    private @Nullable ModelAddressHandle handle;
    private int qpn;
    private int qkey;
    private int srqNumber;
    private boolean namesQueue;

    private ModelSend(Operation operation, long wrId) {
        this.operation = operation;
        this.wrId = wrId;
    }

    public static ModelSend of(Operation operation, long wrId) {
        return new ModelSend(operation, wrId);
    }

    // ---- what it needs

    public ModelSend flags(boolean isSignaled, boolean isFenced, boolean isSolicited) {
        signaled = isSignaled;
        fenced = isFenced;
        solicited = isSolicited;
        return this;
    }

    public ModelSend pieces(List<Piece> list) {
        pieces = List.copyOf(list);
        return this;
    }

    /// The data itself, copied at posting.
    public ModelSend inline(byte[] data) {
        inline = data.clone();
        return this;
    }

    /// Immediate data, or the key to withdraw.
    public ModelSend number(int immediateOrKey) {
        number = immediateOrKey;
        return this;
    }

    public ModelSend remote(long address, int key) {
        remoteAddress = address;
        rkey = key;
        return this;
    }

    /// What to add, to write or to compare with; and what to swap for.
    public ModelSend operands(long first, long second) {
        operand = first;
        swap = second;
        return this;
    }

    /// A bind: the window gets `key`, and shows so much of `of` from `address` on.
    public ModelSend bind(ModelWindow what, int key, ModelRegion of, long address, long bytes, Set<Access> rights) {
        window = what;
        rkey = key;
        region = of;
        remoteAddress = address;
        length = bytes;
        access = Set.copyOf(rights);
        return this;
    }

    /// A FLUSH: how much, and how far.
    ///
    /// @param rights `FLUSH_GLOBAL`, `FLUSH_PERSISTENT`
    public ModelSend flush(long bytes, boolean wholeRegion, Set<Access> rights) {
        length = bytes;
        whole = wholeRegion;
        access = Set.copyOf(rights);
        return this;
    }

    /// A datagram: whereto.
    public ModelSend to(ModelAddressHandle way, int queuePair, int key) {
        handle = way;
        qpn = queuePair;
        qkey = key;
        return this;
    }

    /// A request of an extended connection: the peer's shared receive queue.
    public ModelSend to(int number) {
        srqNumber = number;
        namesQueue = true;
        return this;
    }

    // ---- what it is

    public Operation operation() {
        return operation;
    }

    public long wrId() {
        return wrId;
    }

    public boolean signaled() {
        return signaled;
    }

    public boolean fenced() {
        return fenced;
    }

    public boolean solicited() {
        return solicited;
    }

    public List<Piece> pieces() {
        return pieces;
    }

    public byte @Nullable [] inline() {
        return inline;
    }

    public int number() {
        return number;
    }

    public long remoteAddress() {
        return remoteAddress;
    }

    public int rkey() {
        return rkey;
    }

    public long operand() {
        return operand;
    }

    public long swap() {
        return swap;
    }

    public ModelWindow window() {
        return Objects.requireNonNull(window);
    }

    public ModelRegion region() {
        return Objects.requireNonNull(region);
    }

    /// Of a window, or of a FLUSH.
    public long length() {
        return length;
    }

    /// Of a window, or of a FLUSH.
    public Set<Access> access() {
        return access;
    }

    public boolean isWhole() {
        return whole;
    }

    public @Nullable ModelAddressHandle handle() {
        return handle;
    }

    public int qpn() {
        return qpn;
    }

    public int qkey() {
        return qkey;
    }

    /// Whether it names a shared receive queue of the peer.
    public boolean namesQueue() {
        return namesQueue;
    }

    public int srqNumber() {
        return srqNumber;
    }

    /// Bytes that are sent, or come back.
    public long bytes() {
        return inline != null
                ? inline.length
                : pieces.stream().mapToLong(Piece::length).sum();
    }

    @Override
    public String toString() {
        return operation + " wr " + wrId + (signaled ? " signaled" : "") + (fenced ? " fence" : "")
                + (solicited ? " solicited" : "") + (inline == null ? " " + pieces : " inline " + inline.length)
                + " at 0x" + Long.toHexString(remoteAddress) + " rkey 0x" + Integer.toHexString(rkey) + " number 0x"
                + Integer.toHexString(number) + " len " + length + " " + access
                + (namesQueue ? " to queue 0x" + Integer.toHexString(srqNumber) : "")
                + (handle == null ? "" : " to 0x" + Integer.toHexString(qpn) + " qkey 0x" + Integer.toHexString(qkey));
    }
}
