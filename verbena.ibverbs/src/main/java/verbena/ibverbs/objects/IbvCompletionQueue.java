package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.CQ;
import static verbena.foreign.rdma.VerbsStructs.WC;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.linux.Errno;
import verbena.ibverbs.lib.DeviceQuery;
import verbena.ibverbs.lib.Gate;
import verbena.ibverbs.lib.Ops;
import verbena.ibverbs.lib.TimestampedPoll;
import verbena.provider.Arguments;
import verbena.provider.Timeouts;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.UnsupportedException;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;
import verbena.verbs.spi.OwnedObject;

/// A completion queue of C's. Completions are taken from it in small batches, into memory of its own, and given
/// out one by one; so a poll that finds something calls C once for several. One thread at a time is at it
/// ([Gate]).
public final class IbvCompletionQueue extends OwnedObject implements OpenContext.Queue {
    private static final int BATCH = 16;
    private static final long WC_BYTES = WC.size();
    private static final long WR_ID = WC.at("wr_id");
    // The others lie side by side in pairs, each of which is read at once.
    private static final long STATUS_AND_OPCODE = WC.at("status");
    private static final long VENDOR_ERROR_AND_BYTES = WC.at("vendor_err");
    private static final long IMMEDIATE_AND_QPN = WC.at("imm_data");
    private static final long SOURCE_QPN_AND_FLAGS = WC.at("src_qp");
    private static final long SLID = WC.at("slid");
    private static final long SL = WC.at("sl");
    private static final long PATH_BITS = WC.at("dlid_path_bits");
    private static final int KNOWN_FLAGS = CompletionAccess.GRH | CompletionAccess.WITH_IMM | CompletionAccess.WITH_INV;
    /// soft-RoCE gives out the kernel's own numbers, in which this is the flag of a withdrawn key (Linux 6.1).
    private static final int KERNEL_WITH_INV = 1 << 2;

    private static final WcStatus[] STATUSES = WcStatus.values();
    private static final WcOpcode[] OPCODES = opcodes();
    /// The time that a thread looks again before it sleeps; none where there is but one processor.
    private static final long SPIN_NANOS = Runtime.getRuntime().availableProcessors() > 1 ? 30_000 : 0;

    private final OpenContext context;
    private final Ops ops;
    private final @Nullable IbvCompletionChannel channel;
    private final boolean hasKernelFlags;
    private final long token;
    private final long address;
    private volatile int capacity;
    private volatile boolean broken;

    private final Gate gate = new Gate();
    private final Arena arena = Arena.ofAuto();
    private final long completions = arena.allocate(BATCH * WC_BYTES, 8).address();
    /// The poll of completions that have time stamps.
    private final @Nullable TimestampedPoll timestamped;

    // Inside the gate.
    private int next;
    private int taken;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition woken = lock.newCondition();
    // Under the lock.
    private int sleepers;
    /// The notification that the program has armed: 0 nothing, 1 any completion, 2 solicited ones.
    private int armed;

    private static WcOpcode[] opcodes() {
        var table = new WcOpcode[256];
        Arrays.fill(table, WcOpcode.SEND); // opcodes of completions that are not known
        for (WcOpcode each : WcOpcode.values()) {
            table[each.code()] = each;
        }
        return table;
    }

    /// @param token that names it in events
    /// @param waiting of the context, for queues without a channel of the program's
    /// @param isTimestamped whether its completions say when
    public IbvCompletionQueue(
            OpenContext context,
            long token,
            int entries,
            Optional<IbvCompletionChannel> channel,
            IbvCompletionChannel waiting,
            boolean isTimestamped) {
        super("completion queue " + token);
        this.context = context;
        this.ops = context.ops();
        this.hasKernelFlags = context.attributes().identity().vendorId() == DeviceQuery.SOFT_ROCE;
        this.token = token;
        this.channel = channel.orElse(null);
        madeFrom(channel.isPresent() ? List.of(context, channel.get()) : List.of(context));
        long notified = channel.orElse(waiting).address();
        int vector = context.nextVector();
        var made = isTimestamped
                ? TimestampedPoll.createCq(ops, context.address(), entries, token, notified, vector)
                : context.library().createCq.call(context.address(), entries, token, notified, vector);
        if (made.isNull()) {
            abandon();
            throw context.refused("createCompletionQueue", "maxCqe", made.errno());
        }
        this.address = made.value();
        context.checkLayout("ibv_cq", Memory.getLong(address + CQ.at("context")));
        this.capacity = Memory.getInt(address + CQ.at("cqe"));
        this.timestamped = isTimestamped ? new TimestampedPoll(address, completions, BATCH) : null;
        context.addCompletionQueue(token, this);
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public Context context() {
        return context;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public Optional<CompletionChannel> channel() {
        return Optional.ofNullable(channel);
    }

    // ---- polling

    @Override
    public boolean poll(WorkCompletion wc) {
        boolean found = take(wc);
        if (!found) {
            checkWhole("poll");
        }
        return found;
    }

    private boolean take(WorkCompletion wc) {
        gate.enter("poll", this);
        try {
            if (!hasSome()) {
                return false;
            }
            fill(wc, next++);
            return true;
        } finally {
            gate.leave();
        }
    }

    @Override
    public int poll(WorkCompletion[] into) {
        gate.enter("poll", this);
        try {
            int n = 0;
            while (n < into.length && hasSome()) {
                fill(into[n++], next++);
            }
            if (n == 0) {
                checkWhole("poll");
            }
            return n;
        } finally {
            gate.leave();
        }
    }

    /// Returns whether a completion is there. Called inside the gate.
    private boolean hasSome() {
        assert gate.isMine();
        if (next < taken) {
            return true;
        }
        next = 0;
        taken = Math.max(0, timestamped == null ? ops.poll(address, BATCH, completions) : timestamped.poll());
        assert taken <= BATCH : taken + " completions in room for " + BATCH;
        return taken > 0;
    }

    private void fill(WorkCompletion wc, int index) {
        assert 0 <= index && index < taken : index + " of " + taken + " completions";
        long at = completions + index * WC_BYTES;
        long wrId = Memory.getLong(at + WR_ID);
        long statusAndOpcode = Memory.getLong(at + STATUS_AND_OPCODE);
        long vendorErrorAndBytes = Memory.getLong(at + VENDOR_ERROR_AND_BYTES);
        long immediateAndQpn = Memory.getLong(at + IMMEDIATE_AND_QPN);
        int status = Memory.first(statusAndOpcode);
        if (status != 0) {
            fillFailed(wc, wrId, status, Memory.first(vendorErrorAndBytes), Memory.second(immediateAndQpn));
            return;
        }
        long sourceQpnAndFlags = Memory.getLong(at + SOURCE_QPN_AND_FLAGS);
        int told = Memory.second(sourceQpnAndFlags);
        int flags = told & KNOWN_FLAGS;
        if (hasKernelFlags && (told & KERNEL_WITH_INV) != 0) {
            flags |= CompletionAccess.WITH_INV;
        }
        int data = Memory.first(immediateAndQpn);
        CompletionAccess.fill(
                wc,
                wrId,
                WcStatus.SUCCESS,
                OPCODES[Memory.second(statusAndOpcode) & 0xFF],
                Memory.first(vendorErrorAndBytes),
                Integer.toUnsignedLong(Memory.second(vendorErrorAndBytes)),
                (flags & CompletionAccess.WITH_IMM) != 0 ? Memory.swap(data) : data,
                Memory.second(immediateAndQpn),
                sender(at, Memory.first(sourceQpnAndFlags)),
                flags,
                "");
        if (timestamped != null) {
            CompletionAccess.stamp(wc, timestamped.ticks(index));
        }
    }

    /// Returns the sender of a datagram; other messages have no queue pair there.
    private static long sender(long at, int qpn) {
        int lid = qpn == 0 ? 0 : Memory.getUnsignedShort(at + SLID);
        return lid == 0
                ? qpn & 0xFF_FFFF
                : CompletionAccess.sender(
                        qpn & 0xFF_FFFF, lid, Memory.getByte(at + SL) & 0xF, Memory.getByte(at + PATH_BITS) & 0x7F);
    }

    private void fillFailed(WorkCompletion wc, long wrId, int status, int vendorError, int qpn) {
        context.onFailedRequest(qpn);
        CompletionAccess.fill(
                wc,
                wrId,
                status > 0 && status < STATUSES.length ? STATUSES[status] : WcStatus.GENERAL_ERR,
                WcOpcode.SEND,
                vendorError,
                0,
                0,
                qpn,
                0,
                0,
                vendorError == 0 ? "" : "the device's own number for it is 0x" + Integer.toHexString(vendorError));
    }

    // ---- waiting

    @Override
    public boolean await(WorkCompletion wc, Duration timeout) throws InterruptedException {
        return await(wc, Timeouts.nanos(timeout));
    }

    @Override
    public void await(WorkCompletion wc) throws InterruptedException {
        boolean isThere = false;
        while (!isThere) {
            isThere = await(wc, Timeouts.NONE);
        }
    }

    private boolean await(WorkCompletion wc, long nanos) throws InterruptedException {
        checkOpen();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (take(wc)) {
            return true;
        }
        long start = System.nanoTime();
        do {
            if (take(wc)) {
                return true;
            }
            Thread.onSpinWait();
        } while (System.nanoTime() - start < Math.min(nanos, SPIN_NANOS));
        return sleep(wc, start, nanos);
    }

    private boolean sleep(WorkCompletion wc, long start, long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        sleepers++;
        try {
            while (true) {
                checkAlive();
                request(false);
                if (take(wc)) {
                    return true;
                }
                long left = nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    return false;
                }
                woken.awaitNanos(left);
            }
        } finally {
            sleepers--;
            lock.unlock();
        }
    }

    private void checkWhole(String verb) {
        Arguments.checkWhole(verb, this, label(), broken);
    }

    /// Checks that waiting makes sense.
    private void checkAlive() {
        checkOpen("await");
        checkWhole("await");
        if (context.hasFailed()) {
            throw new DeviceException("await: device " + context.device().name() + " has failed");
        }
    }

    private void request(boolean solicitedOnly) {
        gate.enter("arm", this);
        try {
            ops.requestNotify(address, solicitedOnly);
        } finally {
            gate.leave();
        }
    }

    @Override
    public void arm() {
        arm(false);
    }

    @Override
    public void armSolicited() {
        arm(true);
    }

    private void arm(boolean solicitedOnly) {
        checkOpen();
        if (channel == null) {
            throw new InvalidStateException("arm: " + label() + " was made without a channel");
        }
        lock.lock();
        try {
            // A queue that is armed for all stays so, and a thread that sleeps wants all.
            armed = solicitedOnly && armed != 1 ? 2 : 1;
            request(armed == 2 && sleepers == 0);
        } finally {
            lock.unlock();
        }
    }

    /// Handles an event of C, on the poller's thread.
    @Override
    public void onEvent() {
        lock.lock();
        try {
            if (armed != 0 && channel != null) {
                armed = 0;
                channel.notify(this);
            }
            woken.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Handles the overflow of the queue, on the poller's thread.
    @Override
    public void onBroken() {
        broken = true;
        wakeAll();
    }

    /// Wakes all threads that wait, to look anew.
    @Override
    public void wakeAll() {
        lock.lock();
        try {
            woken.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void resize(int entries) {
        if (entries < 1) {
            throw new IllegalArgumentException("resize: entries: at least 1, got " + entries);
        }
        gate.enter("resize", this);
        try {
            int error = context.library().resizeCq.call(address, entries).error();
            if (Errno.isUnsupported(error)) {
                throw new UnsupportedException(
                        "resize", Capability.RESIZE_CQ, context.device().name());
            }
            if (error != 0) {
                throw new ResourceLimitException(
                        "resize",
                        "entries",
                        entries,
                        "the device says " + Errno.text(error) + ": more completions are in the queue, or it has"
                                + " none of this size; maxCqe is "
                                + context.attributes().queues().maxCqe());
            }
            capacity = Memory.getInt(address + CQ.at("cqe"));
        } finally {
            gate.leave();
        }
    }

    @Override
    protected void release() {
        gate.close("close", this);
        int error = context.library().destroyCq.call(address).error();
        if (error != 0) {
            gate.open();
            throw new DeviceException("close: " + label() + ": ibv_destroy_cq says " + Errno.text(error));
        }
        context.removeCompletionQueue(token);
        if (channel != null) {
            channel.forget(this);
        }
        wakeAll();
    }
}
