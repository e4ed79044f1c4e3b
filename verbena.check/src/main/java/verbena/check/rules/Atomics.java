package verbena.check.rules;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedPair;
import verbena.check.TrackedRequest;
import verbena.check.Watcher;
import verbena.verbs.spi.SendOperation;

/// Watches words that atomics of one queue pair and WRITEs of another change at once.
final class Atomics extends Watcher {
    private record Target(TrackedDevice device, int rkey) {}

    private final Checker checker;
    private final Findings findings;
    private final Map<Target, Set<TrackedRequest>> underWay = new ConcurrentHashMap<>();

    Atomics(Checker checker) {
        this.checker = checker;
        this.findings = checker.findings();
    }

    private static boolean isAtomic(TrackedRequest request) {
        SendOperation operation = request.operation();
        return operation != null && operation.isAtomic();
    }

    private static boolean isWrite(TrackedRequest request) {
        SendOperation operation = request.operation();
        return operation == SendOperation.WRITE || operation == SendOperation.WRITE_WITH_IMMEDIATE;
    }

    @Override
    public void onPost(TrackedRequest request) {
        TrackedPair pair = TrackedPair.of(request);
        TrackedPair peer = pair != null && (isAtomic(request) || isWrite(request))
                ? checker.peer(pair).orElse(null)
                : null;
        if (peer == null) {
            return;
        }
        var target = new Target(peer.device(), request.rkey());
        Set<TrackedRequest> known = underWay.computeIfAbsent(target, _ -> ConcurrentHashMap.newKeySet());
        for (TrackedRequest other : known) {
            if (TrackedPair.of(other) != pair && isAtomic(other) != isAtomic(request) && overlaps(request, other)) {
                findings.tell(
                        Rule.ATOMIC_MIXED,
                        "a " + request.operation() + " and a " + other.operation() + " of two queue pairs for the same"
                                + " bytes are under way at once.",
                        request.place(),
                        "the other was posted",
                        other.place());
            }
        }
        known.add(request);
    }

    private static boolean overlaps(TrackedRequest one, TrackedRequest other) {
        return one.remoteAddress() < other.remoteAddress() + other.bytes()
                && other.remoteAddress() < one.remoteAddress() + one.bytes();
    }

    @Override
    public void onEnd(TrackedRequest request, boolean isOk) {
        onDrop(request);
    }

    @Override
    public void onDrop(TrackedRequest request) {
        if (isAtomic(request) || isWrite(request)) {
            underWay.values().removeIf(each -> {
                each.remove(request);
                return each.isEmpty();
            });
        }
    }
}
