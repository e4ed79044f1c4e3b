package verbena.sim.traffic;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.WorkCompletion;

/// Where messages are received: in the receive queue of one [RcEnd], which completes receives in the order in which
/// they were posted, or in one that several ends of a device share.
final class Inbox {
    private static final int SHARED_SLOTS = 2 * RcEnd.SLOTS;
    private static final int SGE = 3;

    private final World world;
    private final SplittableRandom random;
    final SimDevice device;
    final ProtectionDomain domain;
    final CompletionQueue cq;
    private final @Nullable SharedReceiveQueue shared;
    private final int slots;
    private final int lengthMax;
    private final int slotBytes;
    private final MemoryRegion memory;
    private final WorkCompletion wc = new WorkCompletion();
    /// By the numbers of their queue pairs, those of earlier lives included.
    private final Map<Integer, RcEnd> ends = new HashMap<>();
    private int members;

    /// Of a shared queue: slots that nothing is to be received in.
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private final boolean[] isPosted;
    private long posted;
    private long ended;
    private long postFrom;

    Inbox(World world, SimDevice device, int mtu, boolean isShared) {
        this.world = world;
        this.random = world.random();
        this.device = device;
        lengthMax = RcEnd.lengthMax(mtu);
        slotBytes = RcEnd.slotBytes(mtu);
        slots = isShared ? SHARED_SLOTS : RcEnd.SLOTS;
        domain = device.context().allocateProtectionDomain();
        cq = device.context().createCompletionQueue(slots);
        memory = device.register(domain, (long) slots * slotBytes, Access.local());
        shared = isShared ? domain.createSharedReceiveQueue(slots, SGE) : null;
        isPosted = new boolean[slots];
        for (int i = 0; i < slots; i++) {
            free.add(i);
        }
    }

    boolean isShared() {
        return shared != null;
    }

    /// Whether several queue pairs take from it.
    boolean hasSeveral() {
        return members > 1;
    }

    /// How an end's queue pair is made that receives here.
    QueuePairOptions options(CompletionQueue sendCq) {
        var options = QueuePairOptions.rc(sendCq).withReceiveCq(cq);
        return shared == null
                ? options.withDepth(RcEnd.SLOTS, slots).withSge(SGE, SGE)
                : options.withSharedReceiveQueue(shared)
                        .withDepth(RcEnd.SLOTS, 0)
                        .withSge(SGE, 0);
    }

    /// One more end receives here.
    void join(RcEnd end) {
        members++;
        know(end);
    }

    /// The end has a queue pair of another number.
    void know(RcEnd end) {
        ends.put(end.qp.qpn(), end);
    }

    // ---- receiving

    /// Posts receives, if it is time.
    void post(RcEnd end, long slowNanos) {
        if (world.nowNanos() < postFrom || posted - ended == slots) {
            return;
        }
        int n = (int) (slots - (posted - ended));
        if (slowNanos > 0) {
            n = 1 + random.nextInt(n);
            long late = random.nextLong(slowNanos);
            postFrom = world.nowNanos() + late;
            world.stepAfter(late);
        }
        SharedReceiveQueue queue = shared;
        try (ReceiveBatch batch = queue == null ? end.qp.receive() : queue.receive()) {
            for (int i = 0; i < n; i++) {
                int slot = queue == null ? (int) (posted % slots) : free.removeFirst();
                long at = (long) slot * slotBytes;
                memory.segment().asSlice(at, slotBytes).fill(Tape.CANARY);
                batch.receive(queue == null ? posted : slot);
                isPosted[slot] = true;
                posted++;
                int first = random.nextInt(lengthMax);
                batch.sge(memory, at, first).sge(memory, at + first, lengthMax - first);
            }
            batch.submit();
        }
    }

    /// Tells the ends what they have received.
    void poll() {
        while (device.poll(cq, wc)) {
            RcEnd end = ends.get(wc.qpn());
            Broken.unless(end != null, this, wc, "of a queue pair that does not receive here");
            if (end == null) {
                return;
            }
            boolean inOrder = shared != null || wc.wrId() == ended;
            Broken.unless(inOrder, end, "completes receive", wc.wrId(), "and not", ended);
            ended++;
            int slot = (int) (wc.wrId() % slots);
            Broken.unless(isPosted[slot], end, "completes a receive that is not posted:", wc);
            isPosted[slot] = false;
            if (shared != null) {
                free.add(slot);
            }
            end.onReceive(wc, memory.segment().asSlice((long) slot * slotBytes, slotBytes));
        }
    }

    /// Whether all receives have ended. In a shared queue they stay when a queue pair ends.
    boolean isEmpty() {
        return shared != null || ended == posted;
    }

    /// Its queue pair begins a new life. What was posted to a shared queue stays.
    void renew() {
        if (shared == null) {
            posted = ended = 0;
            Arrays.fill(isPosted, false);
        }
    }

    /// Changes the capacity of the completion queue, and when a shared queue says that it runs low.
    void resize() {
        cq.resize(slots + random.nextInt(3 * slots));
        SharedReceiveQueue queue = shared;
        if (queue != null) {
            queue.armLimit(random.nextInt(slots));
        }
    }

    /// When no queue pair takes from it any more.
    void close() {
        SharedReceiveQueue queue = shared;
        if (queue != null) {
            queue.close();
        }
        cq.close();
        memory.close();
        domain.close();
    }

    /// Bytes of a slot's `memory` that are not what nobody has sent: beyond the first `length`.
    static boolean isUntouched(MemorySegment memory, long length) {
        return Tape.isCanary(memory, length, memory.byteSize() - length);
    }

    @Override
    public String toString() {
        return device.name() + (shared == null ? ": receives " : ": shared receives ") + posted + " posted, " + ended
                + " ended";
    }
}
