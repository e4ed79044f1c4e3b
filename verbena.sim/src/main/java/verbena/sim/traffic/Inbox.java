package verbena.sim.traffic;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.WorkCompletion;
import verbena.verbs.XrcDomain;

/// The receives of an end. An end has a receive queue of its own, which completes receives in the order in which
/// they were posted. Or several ends of a device share one, or their extended connections name two.
final class Inbox {
    enum Kind {
        OWN(0),
        SHARED(1),
        EXTENDED(2);

        /// Shared receive queues.
        final int queues;

        Kind(int queues) {
            this.queues = queues;
        }
    }

    /// An end that receives here.
    interface Receiver {
        /// Returns the queue pair that the peer's requests go to.
        QueuePair receiver();

        /// Handles a receive that has ended.
        ///
        /// @param into  what was posted
        /// @param queue to which of the shared queues
        void onReceive(WorkCompletion received, MemorySegment into, int queue);
    }

    private static final int SHARED_SLOTS = 2 * Slots.COUNT;
    private static final int SGE = 3;

    private final World world;
    private final SplittableRandom random;
    final SimDevice device;
    final ProtectionDomain domain;
    final CompletionQueue cq;
    final Kind kind;
    private final @Nullable XrcDomain xrcDomain;
    /// Each has every so many of the slots, so none gets all of them.
    private final List<SharedReceiveQueue> queues = new ArrayList<>();
    private final int slots;
    private final int lengthMax;
    private final int slotBytes;
    private final MemoryRegion memory;
    private final WorkCompletion wc = new WorkCompletion();
    /// The ends by the numbers of their queue pairs, those of earlier lives included.
    private final Map<Integer, Receiver> ends = new HashMap<>();
    private int members;

    /// The free slots of a shared queue: nothing is to be received in them.
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private final boolean[] isPosted;
    private long posted;
    private long ended;
    private long postFrom;

    Inbox(World world, SimDevice device, int mtu, Kind kind) {
        this.world = world;
        this.random = world.random();
        this.device = device;
        this.kind = kind;
        lengthMax = Slots.lengthMax(mtu);
        slotBytes = Slots.bytes(mtu);
        slots = isShared() ? SHARED_SLOTS : Slots.COUNT;
        domain = device.context().allocateProtectionDomain();
        cq = device.context().createCompletionQueue(slots);
        memory = device.register(domain, (long) slots * slotBytes, Access.local());
        XrcDomain extended = kind == Kind.EXTENDED ? device.context().openXrcDomain() : null;
        xrcDomain = extended;
        for (int i = 0; i < kind.queues; i++) {
            queues.add(
                    extended == null
                            ? domain.createSharedReceiveQueue(slots, SGE)
                            : extended.createSharedReceiveQueue(domain, cq, slots, SGE));
        }
        isPosted = new boolean[slots];
        for (int i = 0; i < slots; i++) {
            free.add(i);
        }
    }

    boolean isShared() {
        return kind != Kind.OWN;
    }

    boolean isExtended() {
        return kind == Kind.EXTENDED;
    }

    /// Returns a queue pair that receives here the requests of the peer's initiator.
    Optional<QueuePair> target() {
        return Optional.ofNullable(xrcDomain).map(XrcDomain::createTarget);
    }

    /// Returns the number by which requests name one of its queues.
    int number(int queue) {
        return queues.get(queue).number().orElseThrow();
    }

    /// Returns whether several queue pairs take from it.
    boolean hasSeveral() {
        return members > 1;
    }

    /// Returns the options of an end's queue pair that receives here.
    QueuePairOptions options(CompletionQueue sendCq) {
        var rc = QueuePairOptions.rc(sendCq).withReceiveCq(cq);
        return switch (kind) {
            case OWN -> rc.withDepth(Slots.COUNT, slots).withSge(SGE, SGE);
            case SHARED ->
                rc.withSharedReceiveQueue(queues.getFirst())
                        .withDepth(Slots.COUNT, 0)
                        .withSge(SGE, 0);
            case EXTENDED ->
                QueuePairOptions.xrcInitiator(sendCq).withDepth(Slots.COUNT, 0).withSge(SGE, 0);
        };
    }

    /// Adds an end that receives here.
    void join(Receiver end) {
        members++;
        know(end);
    }

    /// Registers the new number of an end's queue pair.
    void know(Receiver end) {
        ends.put(end.receiver().qpn(), end);
    }

    // ---- receiving

    /// Posts receives, if it is time.
    void post(Receiver end, long slowNanos) {
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
        if (isShared()) {
            List<Integer> taken = free.stream().limit(n).toList();
            free.removeAll(taken);
            for (int i = 0; i < kind.queues; i++) {
                int queue = i;
                post(
                        queues.get(queue).receiveBatch(),
                        taken.stream().filter(slot -> queueOf(slot) == queue).mapToLong(slot -> slot));
            }
        } else {
            post(end.receiver().receiveBatch(), LongStream.range(posted, posted + n));
        }
    }

    private void post(ReceiveBatch queue, LongStream numbers) {
        try (ReceiveBatch batch = queue) {
            numbers.forEach(number -> {
                int slot = (int) (number % slots);
                long at = (long) slot * slotBytes;
                memory.segment().asSlice(at, slotBytes).fill(Tape.CANARY);
                batch.receive(number);
                isPosted[slot] = true;
                posted++;
                int first = random.nextInt(lengthMax);
                batch.sge(memory, at, first).sge(memory, at + first, lengthMax - first);
            });
            batch.submit();
        }
    }

    private int queueOf(int slot) {
        return slot % kind.queues;
    }

    /// Hands the ends the completions of their receives.
    void poll() {
        while (device.poll(cq, wc)) {
            Receiver end = ends.get(wc.qpn());
            Broken.unless(end != null, this, wc, "of a queue pair that does not receive here");
            if (end == null) {
                return;
            }
            boolean inOrder = isShared() || wc.wrId() == ended;
            Broken.unless(inOrder, end, "completes receive", wc.wrId(), "and not", ended);
            ended++;
            int slot = (int) (wc.wrId() % slots);
            Broken.unless(isPosted[slot], end, "completes a receive that is not posted:", wc);
            isPosted[slot] = false;
            if (isShared()) {
                free.add(slot);
            }
            int queue = isShared() ? queueOf(slot) : 0;
            end.onReceive(wc, memory.segment().asSlice((long) slot * slotBytes, slotBytes), queue);
        }
    }

    /// Returns whether all receives have ended. In a shared queue they stay when a queue pair ends.
    boolean isEmpty() {
        return isShared() || ended == posted;
    }

    /// Begins anew when its queue pair begins a new life. Receives that were posted to a shared queue stay.
    void renew() {
        if (!isShared()) {
            posted = ended = 0;
            Arrays.fill(isPosted, false);
        }
    }

    /// Changes the capacity of the completion queue, and when a shared queue says that it runs low.
    void resize() {
        cq.resize(slots + random.nextInt(3 * slots));
        queues.forEach(queue -> queue.armLimit(random.nextInt(slots)));
    }

    /// Closes the queue, when no queue pair takes from it any more.
    void close() {
        queues.forEach(SharedReceiveQueue::close);
        XrcDomain extended = xrcDomain;
        if (extended != null) {
            extended.close();
        }
        cq.close();
        memory.close();
        domain.close();
    }

    /// Returns whether a slot's `memory` is unchanged beyond the first `length` bytes.
    static boolean isUntouched(MemorySegment memory, long length) {
        return Tape.isCanary(memory, length, memory.byteSize() - length);
    }

    @Override
    public String toString() {
        return device.name() + (isShared() ? ": shared receives " : ": receives ") + posted + " posted, " + ended
                + " ended";
    }
}
