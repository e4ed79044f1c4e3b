package verbena.cm;

import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntPredicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Req;

/// The seam between a [CommunicationManager] and what belongs to one connection or one request: it takes messages to
/// send and deadlines to wait for, draws numbers, and counts. It knows nothing of connections.
final class CmOutbox {
    /// Numbers are drawn from all there are.
    static final int NO_SLOT = -1;

    private static final int SLOT_SHIFT = 24;

    private final long caGuid;
    private final int slot;
    private final RandomGenerator random;
    private final ArrayDeque<CmDeparture> departures = new ArrayDeque<>();
    private final TreeSet<Timed> timers = new TreeSet<>(Timed::compare);
    private long timerOrder;
    private final Map<CmCounter, LongAdder> counters = new EnumMap<>(CmCounter.class);

    /// The parameters are those of [CommunicationManager].
    CmOutbox(long caGuid, int slot, RandomGenerator random) {
        this.caGuid = caGuid;
        this.slot = slot;
        this.random = random;
        for (CmCounter counter : CmCounter.values()) {
            counters.put(counter, new LongAdder());
        }
    }

    /// Returns the name of this host and device to peers.
    long caGuid() {
        return caGuid;
    }

    // ---- numbers

    /// Returns a number that is not taken, and not 0.
    int newId(IntPredicate isTaken) {
        int id;
        do {
            id = draw();
        } while (id == 0 || isTaken.test(id));
        return id;
    }

    private int draw() {
        int number = random.nextInt();
        return slot == NO_SLOT ? number : slot << SLOT_SHIFT | number >>> (Integer.SIZE - SLOT_SHIFT);
    }

    long newTransaction(int commId) {
        return ((long) random.nextInt() << 32) | Integer.toUnsignedLong(commId);
    }

    // ---- messages

    void send(CmRoute route, CmMessage message) {
        count(CmCounter.SENT);
        departures.add(new CmDeparture(route, message));
    }

    void sendAgain(CmRoute route, @Nullable CmMessage message) {
        if (message != null) {
            count(CmCounter.REPEATED);
            send(route, message);
        }
    }

    void refuse(Req req, CmRoute route, RejectReason reason, PrivateData info) {
        refuse(req.transactionId(), req.localCommId(), route, reason, info);
    }

    void refuse(long transactionId, int commId, CmRoute route, RejectReason reason, PrivateData info) {
        count(CmCounter.REFUSED);
        send(route, new Rej(transactionId, 0, commId, 0, info.length(), reason.code(), info, PrivateData.NONE));
    }

    /// Polls the next message to send; null when there is none now.
    @Nullable
    CmDeparture poll() {
        return departures.poll();
    }

    // ---- time

    /// Replaces the deadline that it had before; [Timed#NEVER] for none.
    void schedule(Timed timed, long deadlineNanos) {
        timers.remove(timed);
        timed.deadline(deadlineNanos, ++timerOrder);
        if (deadlineNanos != Timed.NEVER) {
            timers.add(timed);
        }
    }

    /// Returns the earliest deadline; [Timed#NEVER] when there is none.
    long deadlineNanos() {
        return timers.isEmpty() ? Timed.NEVER : timers.first().deadlineNanos();
    }

    void onDeadline(long now) {
        while (deadlineNanos() <= now) {
            Timed first = timers.removeFirst();
            first.deadline(Timed.NEVER, 0);
            first.onDeadline(now);
        }
    }

    // ---- figures

    void count(CmCounter counter) {
        counter(counter).increment();
    }

    private LongAdder counter(CmCounter counter) {
        return Objects.requireNonNull(counters.get(counter));
    }

    /// Returns a counter's value. Any thread.
    long get(CmCounter counter) {
        return counter(counter).sum();
    }

    /// Returns all counters by name. Any thread.
    SortedMap<String, Long> counters() {
        var all = new TreeMap<String, Long>();
        counters.forEach((counter, count) -> all.put(counter.label(), count.sum()));
        return all;
    }
}
