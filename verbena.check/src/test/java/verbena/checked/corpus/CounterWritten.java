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
            scene.here.postFetchAdd(1, scene.remote.address(), scene.remote.rkey(), 1, scene.local, 0); // earlier
            one.postWrite(2, scene.local, 64, 8, scene.remote.address(), scene.remote.rkey()); // here
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.address(), scene.remote.rkey(), 1, scene.local, 0);
        scene.take(scene.sent);
        scene.here.postCompareSwap(2, scene.remote.address(), scene.remote.rkey(), 1, 0, scene.local, 0);
        scene.take(scene.sent);
    }
}
