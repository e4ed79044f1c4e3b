package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A record is written while another queue pair reads it without a look at a version.
final class WrittenWhileRead implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_READ;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            one.postRead(1, scene.remote.remote().slice(0, 128), scene.local.slice(256, 128)); // earlier
            scene.here.postWrite(2, scene.local.slice(0, 128), scene.remote.remote()); // here
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
            one.postRead(1, scene.remote.remote().slice(0, 8), scene.local.slice(256, 8));
            one.postRead(2, scene.remote.remote().slice(0, 128), scene.local.slice(264, 128));
            one.postRead(3, scene.remote.remote().slice(0, 8), scene.local.slice(512, 8));
            scene.here.postWrite(4, scene.local.slice(0, 128), scene.remote.remote());
            for (int i = 0; i < 4; i++) {
                scene.take(scene.sent);
            }
        }
    }
}
