package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import verbena.check.Rule;
import verbena.verbs.CompletionQueue;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

/// A lock is given back before the record that it guards is written.
final class UnlockedBeforeData implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_WRITE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var mine = scene.device.createCompletionQueue(64);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postCompareSwap(1, scene.remote.remote(), 0, 1, scene.local.slice(0, 8));
            scene.take(scene.sent);
            scene.here.postCompareSwap(3, scene.remote.remote(), 1, 0, scene.local.slice(8, 8));
            scene.here.postWrite( // earlier
                    2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
            lock(scene, one, mine);
            one.postWrite(5, scene.local.slice(128, 64), scene.remote.remote().slice(64, 64)); // here
            scene.take(mine);
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var mine = scene.device.createCompletionQueue(64);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postCompareSwap(1, scene.remote.remote(), 0, 1, scene.local.slice(0, 8));
            scene.take(scene.sent);
            scene.here.postWrite(
                    2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
            scene.here.postCompareSwap(3, scene.remote.remote(), 1, 0, scene.local.slice(8, 8));
            lock(scene, one, mine);
            one.postWrite(5, scene.local.slice(128, 64), scene.remote.remote().slice(64, 64));
            scene.take(mine);
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }

    private static void lock(TwoEnds scene, QueuePair by, CompletionQueue queue) throws InterruptedException {
        do {
            by.postCompareSwap(4, scene.remote.remote(), 0, 2, scene.local.slice(16, 8));
            scene.take(queue);
        } while (scene.local.segment().get(JAVA_LONG, 16) != 0);
    }
}
