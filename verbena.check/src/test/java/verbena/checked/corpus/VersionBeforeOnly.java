package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A reader looks at the version before it reads the record, and not after it.
final class VersionBeforeOnly implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_READ;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var mine = scene.device.createCompletionQueue(64);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postWrite( // earlier
                    2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
            one.postRead(4, scene.remote.remote().slice(0, 8), scene.local.slice(256, 8));
            scene.take(mine);
            one.postRead(5, scene.remote.remote().slice(64, 64), scene.local.slice(512, 64)); // here
            scene.take(mine);
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
            scene.here.postWrite(
                    2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
            one.postRead(4, scene.remote.remote().slice(0, 8), scene.local.slice(256, 8));
            scene.take(mine);
            one.postRead(5, scene.remote.remote().slice(64, 64), scene.local.slice(512, 64));
            scene.take(mine);
            one.postRead(6, scene.remote.remote().slice(0, 8), scene.local.slice(264, 8));
            scene.take(mine);
            scene.take(scene.sent);
        }
    }
}
