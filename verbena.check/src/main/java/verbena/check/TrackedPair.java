package verbena.check;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.check.TrackedRequest.Flag;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.spi.SendOperation;

/// A queue pair of the program, as the rules see it: its attributes, and what is outstanding.
public final class TrackedPair extends TrackedObject implements TrackedQueue.Source {
    private final TrackedDevice device;
    /// The queues of a queue pair: where its completions go, and where its receives come from.
    ///
    /// @param receives its own, or those of its shared receive queue
    public record Queues(TrackedQueue send, TrackedQueue receive, TrackedReceives receives) {}

    private final QueuePair queuePair;
    private final QueuePairOptions options;
    private final int qpn;
    private volatile @Nullable TrackedPair peer;
    private final Queues queues;
    private final ArrayDeque<TrackedRequest> sends = new ArrayDeque<>();
    private volatile @Nullable QueuePairAttributes attributes;
    private volatile CallPlace connected = CallPlace.NONE;
    private volatile @Nullable Thread failureSeenBy;
    private long messages;
    private long posted;

    public TrackedPair(
            TrackedDevice device, QueuePair queuePair, QueuePairOptions options, Queues queues, CallPlace made) {
        super(queuePair.toString(), made);
        this.device = device;
        this.queuePair = queuePair;
        this.options = options;
        this.qpn = queuePair.qpn();
        this.queues = queues;
    }

    public TrackedDevice device() {
        return device;
    }

    /// Notes that it reports to its completion queues.
    public void report() {
        queues.send.sources().add(this);
        queues.receive.sources().add(this);
        if (queues.receives.isShared()) {
            queues.receives.lead(queues.receive);
        }
    }

    /// Notes that it reports no more: it was closed.
    public void reportNoMore() {
        queues.send.sources().remove(this);
        queues.receive.sources().remove(this);
        if (queues.receives.isShared()) {
            queues.receives.leadNoMore(queues.receive);
        }
    }

    /// Returns the queue pair below the layer.
    public QueuePair queuePair() {
        return queuePair;
    }

    public int qpn() {
        return qpn;
    }

    /// Returns the queue pair of this process that it is connected with; null when it is not known yet.
    @Nullable
    TrackedPair peer() {
        return peer;
    }

    void peer(@Nullable TrackedPair to) {
        peer = to;
    }

    public QueuePairOptions options() {
        return options;
    }

    public Queues queues() {
        return queues;
    }

    /// Returns its attributes as they were after the last step of the program; null before the first.
    public @Nullable QueuePairAttributes attributes() {
        return attributes;
    }

    /// Returns where the last step was.
    public CallPlace connected() {
        return connected;
    }

    /// Notes a step. Requests that a reset has dropped are given back.
    public List<TrackedRequest> modified(QueuePairAttributes to, CallPlace where) {
        attributes = to;
        peer = null;
        connected = where;
        if (to.state() != QpState.RESET) {
            return List.of();
        }
        failureSeenBy = null;
        synchronized (this) {
            messages = 0;
            posted = 0;
        }
        if (!queues.receives.isShared()) {
            queues.receives.startAnew();
        }
        return dropAll();
    }

    /// Returns the queue pair of a request; null for a receive of a shared queue.
    public static @Nullable TrackedPair of(TrackedRequest request) {
        return request.poster() instanceof TrackedPair pair ? pair : null;
    }

    /// Notes requests that are about to be posted.
    public void begin(List<TrackedRequest> requests) {
        int due = 0;
        synchronized (this) {
            for (TrackedRequest each : requests) {
                sends.add(each);
                each.number(++posted);
                due += each.has(Flag.SIGNALED) ? 1 : 0;
                messages += takesReceive(each) ? 1 : 0;
            }
        }
        queues.send.addDue(due);
    }

    /// Returns whether a request takes a receive of the peer.
    public static boolean takesReceive(TrackedRequest request) {
        SendOperation operation = request.operation();
        return operation != null
                && switch (operation) {
                    case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, WRITE_WITH_IMMEDIATE ->
                        !request.has(Flag.FAULTY);
                    default -> false;
                };
    }

    /// Returns how many requests so far take a receive of the peer.
    public synchronized long messages() {
        return messages;
    }

    /// Takes back requests that could not be posted.
    public void withdraw(List<TrackedRequest> requests) {
        int due = 0;
        synchronized (this) {
            for (TrackedRequest each : requests) {
                if (sends.remove(each)) {
                    due += each.has(Flag.SIGNALED) ? 1 : 0;
                    messages -= takesReceive(each) ? 1 : 0;
                }
            }
        }
        queues.send.addDue(-due);
    }

    /// Notes receives that are about to be posted.
    public void beginReceives(List<TrackedRequest> requests) {
        queues.receives.add(requests);
        if (!queues.receives.isShared()) {
            queues.receive.addDue(requests.size());
        }
    }

    /// Takes back receives that could not be posted.
    public void withdrawReceives(List<TrackedRequest> requests) {
        queues.receives.withdraw(requests);
        if (!queues.receives.isShared()) {
            queues.receive.addDue(-requests.size());
        }
    }

    /// Takes out what a completion of the send queue ends: the request, and those before it that ask for none. The
    /// request itself is the last.
    public List<TrackedRequest> endSends(long wrId, boolean isOk) {
        List<TrackedRequest> ended = new ArrayList<>(1);
        int due = 0;
        synchronized (this) {
            if (!holds(wrId, isOk)) {
                return ended;
            }
            while (true) {
                TrackedRequest oldest = sends.removeFirst();
                ended.add(oldest);
                due += oldest.has(Flag.SIGNALED) ? 1 : 0;
                if (oldest.wrId() == wrId && (oldest.has(Flag.SIGNALED) || !isOk)) {
                    break;
                }
            }
        }
        queues.send.addDue(-due);
        return ended;
    }

    private boolean holds(long wrId, boolean isOk) {
        for (TrackedRequest each : sends) {
            if (each.wrId() == wrId && (each.has(Flag.SIGNALED) || !isOk)) {
                return true;
            }
        }
        return false;
    }

    /// Takes out the receive that a completion ends; null when it is not known.
    public @Nullable TrackedRequest endReceive(long wrId) {
        TrackedRequest ended = queues.receives.take(wrId);
        if (ended != null && !queues.receives.isShared()) {
            queues.receive.addDue(-1);
        }
        return ended;
    }

    /// Returns the send requests that the program has not seen complete, oldest first.
    public synchronized List<TrackedRequest> sendsUnderWay() {
        return List.copyOf(sends);
    }

    /// Takes out all that is outstanding.
    public List<TrackedRequest> dropAll() {
        List<TrackedRequest> dropped;
        int due = 0;
        synchronized (this) {
            dropped = new ArrayList<>(sends);
            for (TrackedRequest each : sends) {
                due += each.has(Flag.SIGNALED) ? 1 : 0;
            }
            sends.clear();
        }
        queues.send.addDue(-due);
        if (!queues.receives.isShared()) {
            List<TrackedRequest> receives = queues.receives.clear();
            queues.receive.addDue(-receives.size());
            dropped.addAll(receives);
        } else {
            queues.receives.expectNone();
        }
        return dropped;
    }

    @Override
    public boolean mayHaveCompleted(TrackedQueue queue) {
        QueuePairAttributes last = attributes;
        if (last == null || last.state() == QpState.RESET || last.state() == QpState.INIT) {
            return false;
        }
        boolean sends =
                queue == queues.send && sendsUnderWay().stream().anyMatch(request -> request.has(Flag.SIGNALED));
        return sends || (queue == queues.receive && !queues.receives.isEmpty());
    }

    @Override
    public int known(TrackedQueue queue) {
        int known = 0;
        if (queue == queues.send) {
            for (TrackedRequest each : sendsUnderWay()) {
                known += each.has(Flag.SIGNALED) ? 1 : 0;
            }
        }
        TrackedPair from = queue == queues.receive && options.type() == QpType.RC && !queues.receives.isShared()
                ? peer // known since its first message
                : null;
        return from == null ? known : known + queues.receives.known(from.messages());
    }

    /// Returns the thread that has taken the completion of a failed request; null when none has.
    public @Nullable Thread failureSeenBy() {
        return failureSeenBy;
    }

    public void failureSeen(Thread by) {
        failureSeenBy = by;
    }
}
