package verbena.sim.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import verbena.verbs.QpType;

/// A device of a [RandomWalk] and what has been made on it, closed things too.
final class WalkPlace {
    final Lockstep.DevicePair pair;
    final List<ModelDomain> domains = new ArrayList<>();
    final List<ModelRegion> regions = new ArrayList<>();
    final List<ModelWindow> windows = new ArrayList<>();
    final List<ModelChannel> channels = new ArrayList<>();
    final List<ModelCompletionQueue> queues = new ArrayList<>();
    final List<ModelSharedReceiveQueue> shared = new ArrayList<>();
    final List<ModelXrcDomain> xrcDomains = new ArrayList<>();
    /// Those shared receive queues that peers name.
    final List<ModelSharedReceiveQueue> numbered = new ArrayList<>();
    final List<ModelQueuePair> queuePairs = new ArrayList<>();
    final List<ModelAddressHandle> handles = new ArrayList<>();

    WalkPlace(Lockstep.DevicePair pair) {
        this.pair = pair;
    }

    /// Open queue pairs of a type.
    long count(QpType type) {
        return WalkSteps.open(
                queuePairs.stream().filter(one -> one.type() == type).toList());
    }

    // ---- room in completion queues: what overflows is known only where one work queue reports alone

    static boolean isNarrow(ModelCompletionQueue queue) {
        return queue.capacity() < 10;
    }

    long reporters(ModelCompletionQueue queue) {
        return queuePairs.stream()
                .filter(one -> !one.isClosed() && (one.sendCq() == queue || one.receiveCq() == queue))
                .count();
    }

    /// Completions that can still come before it overflows.
    int room(ModelCompletionQueue queue) {
        int due = queue.size();
        for (ModelQueuePair one : queuePairs) {
            if (!one.isClosed()) {
                due += one.sendCq() == queue ? one.unfinished() : 0;
                due += one.receiveCq() == queue ? one.receivesPosted() : 0;
            }
        }
        for (ModelSharedReceiveQueue srq : shared) {
            if (queuePairs.stream()
                    .anyMatch(one -> !one.isClosed()
                            && one.receiveCq() == queue
                            && one.shared().equals(Optional.of(srq)))) {
                due += srq.size();
            }
        }
        for (ModelSharedReceiveQueue named : numbered) {
            due += named.completions() == queue ? named.size() : 0;
        }
        return queue.capacity() - due;
    }
}
