package verbena.abi;

import static verbena.foreign.rdma.VerbsStructs.CQ;
import static verbena.foreign.rdma.VerbsStructs.CQ_EX;
import static verbena.foreign.rdma.VerbsStructs.WC;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.WorkCompletion;

/// A completion queue and its `struct ibv_cq`, which has room for a `struct ibv_cq_ex`.
final class CompletionQueueHandle extends Handle {
    /// Time stamps are nanoseconds (`hca_core_clock` of ibv_query_device_ex(3)).
    static final long CLOCK_KILOHERTZ = 1_000_000;

    /// C programs poll without pause. After so many polls in vain whoever else wants the processor, the peer
    /// perhaps, may have it; alone that costs nothing.
    private static final int POLLS_OF_A_TURN = 32;

    /// Bit 3: with a UDP header; below it 1 for IPv6, 2 for IPv4, and 0 would be a GRH.
    private static final int UDP_OVER_IPV6 = 0x9;

    private static final int UDP_OVER_IPV4 = 0xA;

    private static final long WC_WR_ID = WC.at("wr_id");
    private static final long WC_STATUS = WC.at("status");
    private static final long WC_OPCODE = WC.at("opcode");
    private static final long WC_VENDOR_ERR = WC.at("vendor_err");
    private static final long WC_BYTE_LEN = WC.at("byte_len");
    private static final long WC_IMM_DATA = WC.at("imm_data");
    private static final long WC_QP_NUM = WC.at("qp_num");
    private static final long WC_SRC_QP = WC.at("src_qp");
    private static final long WC_FLAGS = WC.at("wc_flags");
    private static final long WC_PKEY_INDEX = WC.at("pkey_index");
    private static final long WC_SL = WC.at("sl");
    private static final long WC_DLID_PATH_BITS = WC.at("dlid_path_bits");
    private static final long WC_BYTES = WC.size();
    private static final long CQ_CONTEXT = CQ.at("cq_context");
    private static final long EX_STATUS = CQ_EX.at("status");
    private static final long EX_WR_ID = CQ_EX.at("wr_id");

    final CompletionQueue cq;
    /// One thread at a time polls: from start_poll to end_poll, too.
    final ReentrantLock polling = new ReentrantLock();

    /// Taken out when those of a queue pair were dropped.
    private final ArrayDeque<WorkCompletion> kept = new ArrayDeque<>();

    private int emptyPolls;
    private WorkCompletion wc = new WorkCompletion();

    private final @Nullable ChannelHandle channel;

    private CompletionQueueHandle(long pointer, CompletionQueue cq, long context, @Nullable ChannelHandle channel) {
        super(pointer, context);
        this.cq = cq;
        this.channel = channel;
    }

    static CompletionQueueHandle of(
            CompletionQueue cq, long context, Optional<ChannelHandle> channel, long programsOwn) {
        long pointer = Native.allocate(CQ_EX.size());
        Native.putLong(pointer + CQ.at("context"), context);
        Native.putLong(
                pointer + CQ.at("channel"), channel.map(each -> each.pointer).orElse(0L));
        Native.putLong(pointer + CQ_CONTEXT, programsOwn);
        Native.putInt(pointer + CQ.at("cqe"), cq.capacity());
        return Handles.put(new CompletionQueueHandle(pointer, cq, context, channel.orElse(null)));
    }

    static CompletionQueueHandle get(long pointer) {
        return Handles.get(pointer, CompletionQueueHandle.class);
    }

    /// See [Handles#byNumber].
    static CompletionQueueHandle byNumber(long pointer) {
        return Handles.byNumber(pointer, CompletionQueueHandle.class);
    }

    @Override
    long numberAt() {
        return CQ.at("handle");
    }

    @Override
    CompletionQueue object() {
        return cq;
    }

    /// `cq_context`.
    long programsOwn() {
        return Native.getLong(pointer + CQ_CONTEXT);
    }

    void arm(boolean solicitedOnly) {
        cq.arm(solicitedOnly);
        if (channel != null) {
            channel.onArmed();
        }
    }

    /// @throws IllegalArgumentException when more completions are in it
    void resize(int entries) {
        polling.lock();
        try {
            cq.resize(entries);
        } catch (ResourceLimitException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } finally {
            polling.unlock();
        }
    }

    /// Up to `count` completions into an array of `struct ibv_wc`; returns how many.
    @SuppressWarnings("ThreadPriorityCheck") // a courtesy: nothing relies on it
    int poll(int count, long into) {
        polling.lock();
        try {
            int n = 0;
            while (n < count && take()) {
                put(into + n * WC_BYTES);
                n++;
            }
            if (n > 0) {
                emptyPolls = 0;
            } else if (++emptyPolls % POLLS_OF_A_TURN == 0) {
                Thread.yield();
            }
            return n;
        } finally {
            polling.unlock();
        }
    }

    /// The oldest completion into `wc`; false when there is none.
    private boolean take() {
        if (kept.isEmpty()) {
            return cq.poll(wc);
        }
        wc = kept.removeFirst();
        return true;
    }

    /// Drops the completions of a queue pair, and keeps those of others in their order.
    void forget(int qpn) {
        polling.lock();
        try {
            kept.removeIf(each -> each.qpn() == qpn);
            var next = new WorkCompletion();
            while (cq.poll(next)) {
                if (next.qpn() != qpn) {
                    kept.add(next);
                    next = new WorkCompletion();
                }
            }
        } finally {
            polling.unlock();
        }
    }

    private void put(long into) {
        Native.putLong(into + WC_WR_ID, wc.wrId());
        Native.putInt(into + WC_STATUS, wc.status().code());
        Native.putInt(into + WC_OPCODE, wc.opcode().code());
        Native.putInt(into + WC_VENDOR_ERR, wc.vendorError());
        Native.putInt(into + WC_BYTE_LEN, (int) wc.byteLength());
        Native.putInt(into + WC_IMM_DATA, immediate());
        Native.putInt(into + WC_QP_NUM, wc.qpn());
        Native.putInt(into + WC_SRC_QP, wc.sourceQpn());
        Native.putInt(into + WC_FLAGS, flags());
        Native.putInt(into + WC_PKEY_INDEX, 0); // and slid
        Native.putByte(into + WC_SL, packetType());
        Native.putByte(into + WC_DLID_PATH_BITS, 0);
    }

    private int flags() {
        return wc.flags() & ~WorkCompletion.IPV4; // no flag of C's
    }

    /// What a datagram came in, where the service level of InfiniBand would be: Ethernet has none, and cards
    /// of mlx5 say it there (decision 0069).
    private int packetType() {
        if ((wc.flags() & WorkCompletion.GRH) == 0) {
            return 0;
        }
        return (wc.flags() & WorkCompletion.IPV4) != 0 ? UDP_OVER_IPV4 : UDP_OVER_IPV6;
    }

    /// Immediate data as they were on the wire, a key as a number.
    private int immediate() {
        return wc.hasImmediate() ? Native.bigEndian(wc.immediate()) : wc.invalidatedRkey();
    }

    /// The next completion is the current one; false when there is none.
    boolean next() {
        if (!take()) {
            return false;
        }
        Native.putInt(pointer + EX_STATUS, wc.status().code());
        Native.putLong(pointer + EX_WR_ID, wc.wrId());
        return true;
    }

    /// A field of the current completion, numbered as `operations.c` does.
    long read(int field) {
        return switch (field) {
            case 0 -> wc.opcode().code();
            case 1 -> wc.vendorError();
            case 2 -> wc.byteLength();
            case 3 -> immediate();
            case 4 -> wc.qpn();
            case 5 -> wc.sourceQpn();
            case 6 -> flags();
            case 8 -> packetType();
            case 10 -> System.nanoTime();
            case 11 -> System.currentTimeMillis() * 1_000_000;
            default -> 0; // of InfiniBand's addresses
        };
    }
}
