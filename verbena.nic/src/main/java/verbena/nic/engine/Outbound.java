package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import verbena.nic.link.Link;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.wire.Frame;

/// The scheduler: which queue pair may send next, and whose deadline comes first. For the engine's owner.
final class Outbound {
    /// Frames sent, and deadlines looked at, in one piece of work at most.
    static final int BATCH = 64;
    /// Frames that one queue pair may fill before the next has its turn.
    private static final int TURN = 16;
    /// When the way out is full, try again after this.
    static final long FULL_NANOS = 50_000;

    private final Counters counters;
    private final Containment containment;
    private final ArrayDeque<EngineTask> ready = new ArrayDeque<>();
    private final DeadlineHeap deadlines = new DeadlineHeap();
    /// Those of `from` up to `to` were filled, and have not left.
    private final Frame[] departures;
    private int from;
    private int to;

    Outbound(Counters counters, Containment containment, Arena arena) {
        this.counters = counters;
        this.containment = containment;
        this.departures = Frame.allocate(arena.allocate((long) BATCH * Frame.SLOT_BYTES, 64));
    }

    /// Sees to it that the queue pair is asked for packets.
    void makeReady(EngineTask station) {
        if (!station.isReady && !station.isGone && !station.isLost) {
            station.isReady = true;
            ready.add(station);
        }
    }

    /// The same for the queue pairs that were posted on.
    void makeReady(Doorbells doorbells) {
        EngineTask station = doorbells.take();
        while (station != null) {
            EngineTask next = station.nextRung;
            station.answer();
            makeReady(station);
            station = next;
        }
    }

    boolean hasReady() {
        return !ready.isEmpty();
    }

    /// The queue pair is taken out of the engine.
    void remove(EngineTask station) {
        station.isGone = true;
        deadlines.remove(station);
    }

    // ---- packets

    /// Sends a batch, or what is left of the last; returns how many packets the link has taken.
    int send(Link link, long now) {
        if (from == to) {
            from = to = 0;
            fill(link, now);
        }
        int n = to - from;
        if (n == 0) {
            return 0;
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

    private void fill(Link link, long now) {
        while (to < BATCH) {
            EngineTask station = ready.poll();
            if (station == null) {
                return;
            }
            int turn = Math.min(TURN, BATCH - to);
            int first = to;
            boolean more = true;
            while (turn-- > 0 && more && !station.isGone && !station.isLost) {
                Frame frame = departures[to];
                try {
                    more = station.scheduled.poll(frame, now);
                } catch (RuntimeException | Error e) {
                    containment.contain(station, e);
                    more = false;
                }
                frame.stamp = station.stamp;
                if (more) {
                    to++;
                    station.counters.sent(frame.length);
                }
            }
            if (station.isGone) {
                station.isReady = false;
                continue;
            }
            acknowledgeLast(link, first);
            schedule(station);
            station.isReady = more;
            if (more) {
                ready.add(station);
            }
        }
    }

    /// See [Trailing].
    private void acknowledgeLast(Link link, int first) {
        if (to - first == 2
                && Trailing.isBehind(departures[first + 1], departures[first])
                && link.keepsTogether(departures[first + 1], departures[first])) {
            Trailing.exchange(departures, first);
        }
    }

    // ---- deadlines

    /// Calls the queue pairs whose deadline has come, a batch at most; returns how many.
    int runDeadlines(long now) {
        int n = 0;
        for (EngineTask station = deadlines.pollDue(now); station != null; station = deadlines.pollDue(now)) {
            try {
                station.scheduled.onDeadline(now);
            } catch (RuntimeException | Error e) {
                containment.contain(station, e);
            }
            schedule(station);
            makeReady(station);
            if (++n == BATCH) {
                break;
            }
        }
        return n;
    }

    boolean hasDue(long now) {
        return deadlines.earliestNanos() <= now;
    }

    /// Deadlines that have moved are brought to their place: what [#dueNanos] says then is no earlier than it must be.
    void settle() {
        deadlines.settle();
    }

    /// When there will be something to do that no other thread says; the past when there is something now.
    long dueNanos(long now) {
        if (from < to) {
            return Math.min(now + FULL_NANOS, deadlines.earliestNanos());
        }
        return ready.isEmpty() ? deadlines.earliestNanos() : Long.MIN_VALUE;
    }

    private void schedule(EngineTask station) {
        if (station.isLost) {
            deadlines.remove(station);
        } else {
            deadlines.schedule(station);
        }
    }
}
