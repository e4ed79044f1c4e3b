package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.CQ;
import static verbena.foreign.rdma.VerbsStructs.CQ_EX;
import static verbena.foreign.rdma.VerbsStructs.WC;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.CompletionQueue;
import verbena.verbs.InvalidStateException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;

/// A completion queue and its `struct ibv_cq`, which has room for a `struct ibv_cq_ex`.
public final class CompletionQueueHandle extends Handle {
    /// Time stamps are nanoseconds (`hca_core_clock` of ibv_query_device_ex(3)).
    static final long CLOCK_KILOHERTZ = 1_000_000;

    /// C programs poll without pause. After so many polls in vain another thread that wants the processor, the peer
    /// perhaps, may have it. When there is none, that costs nothing.
    private static final int POLLS_OF_A_TURN = 32;
    /// Completions that are taken from the queue at once.
    private static final int BATCH_MAX = 16;

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
    private static final long WC_SLID = WC.at("slid");
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

    private final WorkCompletion[] @Nullable [] batches = new WorkCompletion[BATCH_MAX + 1][];
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
        Memory.putLong(pointer + CQ.at("context"), context);
        Memory.putLong(
                pointer + CQ.at("channel"), channel.map(each -> each.pointer).orElse(0L));
        Memory.putLong(pointer + CQ_CONTEXT, programsOwn);
        Memory.putInt(pointer + CQ.at("cqe"), cq.capacity());
        return Handles.put(new CompletionQueueHandle(pointer, cq, context, channel.orElse(null)));
    }

    public static CompletionQueueHandle get(long pointer) {
        return Handles.get(pointer, CompletionQueueHandle.class);
    }

    /// Returns the queue of a number. See [Handles#byNumber].
    static CompletionQueueHandle byNumber(long pointer) {
        return Handles.byNumber(pointer, CompletionQueueHandle.class);
    }

    @Override
    protected long numberAt() {
        return CQ.at("handle");
    }

    @Override
    public CompletionQueue object() {
        return cq;
    }

    /// Returns `cq_context`.
    long programsOwn() {
        return Memory.getLong(pointer + CQ_CONTEXT);
    }

    @Override
    protected void takeBackEvents() {
        super.takeBackEvents();
        if (channel != null) {
            channel.onQueueClosed();
        }
    }

    void arm(boolean solicitedOnly) {
        if (solicitedOnly) {
            cq.armSolicited();
        } else {
            cq.arm();
        }
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
            while (n < count && !kept.isEmpty()) {
                wc = kept.removeFirst();
                put(into + n * WC_BYTES);
                n++;
            }
            // One look at the queue, as long as it gives all that is asked for: to poll an empty queue
            // drives the device, whose acknowledgements would leave before the answer that the program is
            // about to post.
            WorkCompletion[] batch;
            int taken;
            do {
                batch = batch(Math.min(count - n, BATCH_MAX));
                taken = take(batch);
                for (int i = 0; i < taken; i++) {
                    wc = batch[i];
                    put(into + n * WC_BYTES);
                    n++;
                }
            } while (taken == batch.length && n < count);
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

    /// Takes completions from the queue; none if it has overflowed, of which C learns by an asynchronous event alone.
    private int take(WorkCompletion[] into) {
        try {
            return cq.poll(into);
        } catch (InvalidStateException e) {
            return 0;
        }
    }

    /// Returns completions to poll into, so many; each size is made once.
    private WorkCompletion[] batch(int size) {
        WorkCompletion @Nullable [] known = batches[size];
        if (known == null) {
            known = Stream.generate(WorkCompletion::new).limit(size).toArray(WorkCompletion[]::new);
            batches[size] = known;
        }
        return known;
    }

    /// Takes the oldest completion into `wc`; returns false when there is none.
    private boolean take() {
        assert polling.isHeldByCurrentThread();
        if (kept.isEmpty()) {
            WorkCompletion[] next = batch(1);
            if (take(next) == 0) {
                return false;
            }
            wc = next[0];
            return true;
        }
        wc = kept.removeFirst();
        return true;
    }

    /// Drops the completions of a queue pair, and keeps those of others in their order.
    void forget(int qpn) {
        polling.lock();
        try {
            kept.removeIf(each -> each.qpn() == qpn);
            WorkCompletion[] next = batch(1);
            while (take(next) == 1) {
                if (next[0].qpn() != qpn) {
                    kept.add(next[0]);
                    next[0] = new WorkCompletion();
                }
            }
        } finally {
            polling.unlock();
        }
    }

    private void put(long into) {
        assert polling.isHeldByCurrentThread();
        Memory.putLong(into + WC_WR_ID, wc.wrId());
        Memory.putInt(into + WC_STATUS, wc.status().code());
        Memory.putInt(into + WC_OPCODE, wc.opcode().code());
        Memory.putInt(into + WC_VENDOR_ERR, wc.vendorError());
        Memory.putInt(into + WC_BYTE_LEN, (int) wc.byteLength());
        Memory.putInt(into + WC_IMM_DATA, immediate());
        Memory.putInt(into + WC_QP_NUM, wc.qpn());
        Memory.putInt(into + WC_SRC_QP, wc.sourceQpn());
        Memory.putInt(into + WC_FLAGS, flags());
        Memory.putShort(into + WC_PKEY_INDEX, 0);
        Memory.putShort(into + WC_SLID, wc.sourceLid());
        Memory.putByte(into + WC_SL, serviceLevel());
        Memory.putByte(into + WC_DLID_PATH_BITS, wc.pathBits());
    }

    private int flags() {
        return CompletionAccess.flags(wc) & ~CompletionAccess.IPV4; // no flag of C's
    }

    /// Returns the service level of InfiniBand. Ethernet has none, and the field then shows the encapsulation in
    /// which a datagram came, as with cards of mlx5 (decision 01).
    private int serviceLevel() {
        if (wc.sourceLid() != 0) {
            return wc.serviceLevel();
        }
        if (!wc.hasGrh()) {
            return 0;
        }
        return wc.hasIpv4Header() ? UDP_OVER_IPV4 : UDP_OVER_IPV6;
    }

    /// Returns immediate data as they were on the wire, and a key as a number.
    private int immediate() {
        return wc.hasImmediate() ? Memory.swap(wc.immediate()) : wc.invalidatedRkey();
    }

    /// Makes the next completion the current one; returns false when there is none.
    boolean next() {
        if (!take()) {
            return false;
        }
        Memory.putInt(pointer + EX_STATUS, wc.status().code());
        Memory.putLong(pointer + EX_WR_ID, wc.wrId());
        return true;
    }

    /// Returns a field of the current completion, by the number that `operations.c` has for it.
    long read(int field) {
        assert polling.isHeldByCurrentThread() : "between start_poll and end_poll";
        return switch (field) {
            case 0 -> wc.opcode().code();
            case 1 -> wc.vendorError();
            case 2 -> wc.byteLength();
            case 3 -> immediate();
            case 4 -> wc.qpn();
            case 5 -> wc.sourceQpn();
            case 6 -> flags();
            case 7 -> wc.sourceLid();
            case 8 -> serviceLevel();
            case 9 -> wc.pathBits();
            case 10 -> System.nanoTime();
            case 11 -> System.currentTimeMillis() * 1_000_000;
            default -> 0;
        };
    }
}
