package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import verbena.nic.link.Link;
import verbena.nic.link.PacketPairs;
import verbena.transport.Counter;
import verbena.transport.EngineCounters;
import verbena.wire.Frame;

/// The scheduler: which queue pair may send next, and whose deadline comes first. For the engine's owner.
final class Outbound {
    private final EngineCounters counters;
    private final Containment containment;
    private final ArrayDeque<EngineTask> ready = new ArrayDeque<>();
    private final DeadlineHeap deadlines = new DeadlineHeap();
    /// The frames, of which those in `from` up to `to` are filled and not yet sent.
    private final Frame[] departures;
    private int from;
    private int to;

    Outbound(EngineCounters counters, Containment containment, Arena arena) {
        this.counters = counters;
        this.containment = containment;
        this.departures = Frame.allocate(arena.allocate((long) Tuning.BATCH * Frame.SLOT_BYTES, 64));
    }

    /// Ensures that the queue pair is polled for packets.
    void makeReady(EngineTask task) {
        if (!task.isReady && !task.isGone && !task.isLost) {
            task.isReady = true;
            ready.add(task);
        }
    }

    /// Ensures that the queue pairs that threads have posted on are polled for packets.
    void makeReady(Doorbells doorbells) {
        EngineTask task = doorbells.take();
        while (task != null) {
            EngineTask next = task.nextRung;
            task.answer();
            makeReady(task);
            task = next;
        }
    }

    boolean hasReady() {
        return !ready.isEmpty();
    }

    /// Removes the queue pair, which leaves the engine.
    void remove(EngineTask task) {
        task.isGone = true;
        deadlines.remove(task);
    }

    // ---- packets

    /// Sends a batch, or the rest of the last one. Returns how many packets the link has taken, or 1 when a queue
    /// pair has done something else and has not finished.
    int send(Link link, long now) {
        assert 0 <= from && from <= to && to <= Tuning.BATCH : "order of departures";
        boolean hasMore = false;
        if (from == to) {
            from = to = 0;
            hasMore = fill(link, now);
        }
        int n = to - from;
        if (n == 0) {
            return hasMore ? 1 : 0;
        }
        int taken = link.transmit(departures, from, n);
        assert taken >= 0 && taken <= n : taken + " of " + n + " packets";
        for (int i = 0; i < taken; i++) {
            counters.add(Counter.SENT_BYTES, departures[from + i].length);
        }
        counters.add(Counter.SENT_PACKETS, taken);
        from += taken;
        return taken;
    }

    /// Fills frames. Returns true when a queue pair has used its turn for something else than packets, and has
    /// asked for another turn. It has that turn in the next piece of work.
    private boolean fill(Link link, long now) {
        EngineTask first = null;
        while (to < Tuning.BATCH && !ready.isEmpty() && !ready.element().equals(first)) {
            EngineTask task = ready.remove();
            task.isReady = false; // so that it can ask for another turn while it is polled
            int turn = Math.min(Tuning.TURN, Tuning.BATCH - to);
            int begin = to;
            boolean more = true;
            while (turn-- > 0 && more && !task.isGone && !task.isLost) {
                Frame frame = departures[to];
                try {
                    more = task.scheduled.poll(frame, now);
                } catch (RuntimeException | Error e) {
                    containment.contain(task, e);
                    more = false;
                }
                if (more) {
                    to++;
                    task.counters.sent(frame.length);
                }
            }
            if (task.isGone) {
                continue;
            }
            acknowledgeLast(link, begin);
            schedule(task);
            if (more) {
                makeReady(task);
            } else if (task.isReady && to == begin && first == null) {
                first = task;
            }
        }
        return first != null;
    }

    /// Exchanges an acknowledgement and the request behind it, when [Trailing] allows it and both arrive together.
    private void acknowledgeLast(Link link, int first) {
        if (to - first == 2
                && Trailing.isBehind(departures[first + 1], departures[first])
                && link instanceof PacketPairs pairs
                && pairs.keepsTogether(departures[first + 1], departures[first])) {
            Trailing.exchange(departures, first);
        }
    }

    // ---- deadlines

    /// Calls the queue pairs whose deadline has come, one batch at most; returns how many.
    int runDeadlines(long now) {
        int n = 0;
        for (EngineTask task = deadlines.pollDue(now); task != null; task = deadlines.pollDue(now)) {
            try {
                task.scheduled.onDeadline(now);
            } catch (RuntimeException | Error e) {
                containment.contain(task, e);
            }
            schedule(task);
            makeReady(task);
            if (++n == Tuning.BATCH) {
                break;
            }
        }
        return n;
    }

    boolean hasDue(long now) {
        return deadlines.earliestNanos() <= now;
    }

    /// Moves postponed deadlines to their true places, so that [#dueNanos] is no earlier than necessary.
    void settle() {
        deadlines.settle();
    }

    /// Returns when there will be work that no other thread announces; a time in the past when there is some now.
    long dueNanos(long now) {
        if (from < to) {
            return Math.min(now + Tuning.RETRY_NANOS, deadlines.earliestNanos());
        }
        return ready.isEmpty() ? deadlines.earliestNanos() : Long.MIN_VALUE;
    }

    private void schedule(EngineTask task) {
        if (task.isLost) {
            deadlines.remove(task);
        } else {
            deadlines.schedule(task);
        }
    }
}
