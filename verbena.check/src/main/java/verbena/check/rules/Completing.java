package verbena.check.rules;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedPair;
import verbena.check.TrackedQueue;
import verbena.check.TrackedQueue.Notice;
import verbena.check.TrackedReceives;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Flag;
import verbena.check.Watcher;
import verbena.verbs.QpType;

/// Watches that completions have room, come, and are looked at.
final class Completing extends Watcher {
    private final Findings findings;

    Completing(Checker checker) {
        super(Set.of(Event.POST, Event.SHARED, Event.OPEN, Event.FULL, Event.RESIZE, Event.WAIT));
        this.findings = checker.findings();
    }

    @Override
    public void onPost(TrackedRequest request) {
        TrackedPair pair = TrackedPair.of(request);
        if (pair == null) {
            return;
        }
        TrackedQueue queue =
                request.isReceive() ? pair.queues().receive() : pair.queues().send();
        checkSize(queue, request::place);
        if (pair.options().type() == QpType.RC && pair.failureSeenBy() == Thread.currentThread()) {
            findings.tell(
                    Rule.STATUS_IGNORED,
                    "a " + (request.isReceive() ? "receive" : "request")
                            + " was posted on a queue pair after this thread has taken the completion of a failed one.",
                    request.place(),
                    "the queue pair was made",
                    pair.made());
        }
    }

    @Override
    public void onShared(TrackedReceives receives) {
        if (receives.hasGrown()) {
            receives.queues().forEach(queue -> checkSize(queue, CallPlace::here));
        }
    }

    @Override
    public void onOpen(TrackedPair pair) {
        checkSize(pair.queues().receive(), pair::made);
    }

    private void checkSize(TrackedQueue queue, Supplier<CallPlace> here) {
        int due = queue.due();
        int capacity = queue.queue().capacity();
        if (due > capacity) {
            findings.tell(
                    Rule.QUEUE_SMALL,
                    due + " requests may complete into a queue of " + capacity + " entries.",
                    here.get(),
                    "the queue was made",
                    queue.made());
        }
    }

    @Override
    public void onResize(TrackedQueue queue) {
        checkSize(queue, CallPlace::here);
    }

    @Override
    public void onFull(TrackedPair pair, List<TrackedRequest> pending, CallPlace where) {
        List<TrackedRequest> underWay = pair.sendsUnderWay();
        boolean isStuck =
                Stream.concat(underWay.stream(), pending.stream()).noneMatch(request -> request.has(Flag.SIGNALED));
        if (isStuck && !underWay.isEmpty()) {
            findings.tell(
                    Rule.QUEUE_STUCK,
                    "the send queue holds " + underWay.size() + " requests, and none of them will complete visibly.",
                    where,
                    "the oldest was posted",
                    underWay.getFirst().place());
        }
    }

    @Override
    public void onWait(List<TrackedQueue> queues, boolean isAll) {
        boolean hasTold = false;
        for (TrackedQueue each : queues) {
            TrackedQueue.Armed armed = each.missed();
            if (armed != null) {
                findings.tell(
                        Rule.ARM_LOST,
                        "a thread waits for a notification of a queue that was not polled until it was empty since it"
                                + " was armed.",
                        CallPlace.here(),
                        "it was armed",
                        armed.place());
                hasTold = true;
            }
        }
        if (isAll && !hasTold) {
            checkNotices(queues);
        }
    }

    /// Tells of a thread that waits for a channel, although nothing will wake it: none of the queues is armed. It also
    /// tells of a queue that it has not polled since its event. What other threads arm or poll is not its affair.
    private void checkNotices(List<TrackedQueue> queues) {
        Thread me = Thread.currentThread();
        boolean isArmed = false;
        TrackedQueue unarmed = null;
        for (TrackedQueue each : queues) {
            Notice notice = each.notice();
            isArmed |= notice.due() > 0 || notice.by() != me;
            unarmed = each;
        }
        for (TrackedQueue each : queues) {
            Notice notice = each.notice();
            CallPlace taken = notice.taken();
            boolean hasGoneOn = TrackedQueue.polls(queues) > notice.polls(); // and looked at others
            if (isArmed && taken != null && hasGoneOn && each.isPolledHere()) {
                findings.tell(
                        Rule.ARM_LOST,
                        "a thread waits for other queues and has not polled one whose event it has taken.",
                        CallPlace.here(),
                        "the event was taken",
                        taken);
            }
        }
        if (!isArmed && unarmed != null) {
            findings.tell(
                    Rule.ARM_LOST,
                    "a thread waits for a notification, and no queue of the channel is armed.",
                    CallPlace.here(),
                    "a queue of the channel was made",
                    unarmed.made());
        }
    }
}
