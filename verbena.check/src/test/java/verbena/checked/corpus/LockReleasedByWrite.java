package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A lock is taken by CMP_SWAP of one connection and released by a WRITE of another.
final class LockReleasedByWrite implements Program {
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
            scene.here.postWrite(1, scene.local.slice(64, 8), scene.remote.remote()); // earlier
            one.postCompareSwap(2, scene.remote.remote(), 0, 1, scene.local.slice(0, 8)); // here
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postCompareSwap(1, scene.remote.remote(), 1, 0, scene.local.slice(8, 8));
            one.postCompareSwap(2, scene.remote.remote(), 0, 1, scene.local.slice(0, 8));
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }
}
