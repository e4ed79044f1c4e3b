package verbena.check.rules;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedObject;
import verbena.check.TrackedPair;
import verbena.check.TrackedQueue;
import verbena.check.TrackedRequest;
import verbena.check.Watcher;
import verbena.verbs.QpState;
import verbena.verbs.QueuePairAttributes;

/// Watches what queues cost: how many there are, and looks at them in vain.
final class QueueCosts extends Watcher {
    /// Connected queue pairs of one device from which on it is told: what a ConnectX-4 is taken to hold.
    private static final int PAIRS = 600;
    /// Looks in vain before one completion that take longer than an event would: half a millisecond on a card.
    private static final int LOOKS = 10_000;
    /// Completions that so many looks have preceded, from which on it is told.
    private static final int WAITS = 4;
    /// Queues of one queue pair each at which one thread looks, from which on it is told.
    private static final int QUEUES = 16;
    /// Looks in vain at each of them.
    private static final int ROUNDS = 1_000;

    private final Checker checker;
    private final Findings findings;
    private final Map<TrackedDevice, Set<TrackedPair>> connected = new HashMap<>();

    QueueCosts(Checker checker) {
        super(Set.of(Event.MODIFY, Event.CLOSE, Event.POLL));
        this.checker = checker;
        this.findings = checker.findings();
    }

    @Override
    public synchronized void onModify(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        QueuePairAttributes own = pair.attributes();
        if (own == null || own.peer().path().isEmpty() || own.state() != QpState.RTS) {
            return;
        }
        Set<TrackedPair> all = connected.computeIfAbsent(pair.device(), _ -> new HashSet<>());
        if (all.add(pair) && all.size() == PAIRS) {
            findings.tell(
                    Rule.PAIRS_MANY,
                    PAIRS + " connected queue pairs are open on one device.",
                    pair.connected(),
                    "the device was opened",
                    pair.device().opened());
        }
    }

    @Override
    public synchronized void onClose(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        connected.computeIfPresent(pair.device(), (_, all) -> {
            all.remove(pair);
            return all.isEmpty() ? null : all;
        });
    }

    @Override
    public void onPoll(TrackedQueue queue, boolean found) {
        Thread me = Thread.currentThread();
        if (!found) {
            if (queue.looks().vain(me) == ROUNDS) {
                lookAround(queue, me);
            }
        } else if (queue.looks().found(LOOKS) == WAITS) {
            findings.tell(
                    Rule.POLL_IDLE,
                    WAITS + " completions came after at least " + LOOKS + " looks in vain each.",
                    CallPlace.here(),
                    "the queue was made",
                    queue.made());
        }
    }

    private void lookAround(TrackedQueue queue, Thread me) {
        int count = 0;
        for (TrackedDevice device : checker.devices()) {
            for (TrackedObject each : device.objects()) {
                boolean isOwn = each instanceof TrackedQueue other
                        && other.looks().isOf(me, ROUNDS)
                        && other.sources().size() == 1;
                count += isOwn ? 1 : 0;
            }
        }
        if (count == QUEUES) {
            findings.tell(
                    Rule.QUEUE_EACH,
                    "one thread looks at " + QUEUES + " completion queues of one queue pair each.",
                    CallPlace.here(),
                    "the queue was made",
                    queue.made());
        }
    }
}
