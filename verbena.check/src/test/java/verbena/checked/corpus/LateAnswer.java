package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A client gives up waiting for an answer, and reads into the buffer that its server may still write to.
final class LateAnswer implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_LOCAL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var mine = scene.device.createCompletionQueue(64);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote()); // earlier
            other.postRead(2, scene.remote.remote().slice(4_096, 64), scene.remote.slice(0, 64)); // here
            scene.take(scene.arrived);
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
            scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            scene.take(scene.sent);
            other.postRead(2, scene.remote.remote().slice(4_096, 64), scene.remote.slice(0, 64));
            scene.take(scene.arrived);
        }
    }
}
