package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A counter of atomics is set back by a WRITE.
final class CounterWritten implements Program {
    @Override
    public Rule rule() {
        return Rule.ATOMIC_MIXED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8)); // earlier
            one.postWrite(2, scene.local.slice(64, 8), scene.remote.remote()); // here
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8));
        scene.take(scene.sent);
        scene.here.postCompareSwap(2, scene.remote.remote(), 1, 0, scene.local.slice(0, 8));
        scene.take(scene.sent);
    }
}
