package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// The owner loads what one queue pair writes when another has told of it.
final class LoadAfterAnnouncement implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_ANNOUNCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.there.postReceive(1, scene.remote.slice(0, 8));
            one.postWrite(2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64)); // earlier
            scene.here.postWriteWithImmediate(3, scene.local.slice(0, 8), scene.remote.remote(), 1);
            scene.take(scene.arrived);
            scene.remote.noteLoad(64, 64); // here
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
            scene.there.postReceive(1, scene.remote.slice(0, 8));
            one.postWrite(2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
            scene.take(scene.sent);
            scene.here.postWriteWithImmediate(3, scene.local.slice(0, 8), scene.remote.remote(), 1);
            scene.take(scene.arrived);
            scene.remote.noteLoad(64, 64);
            scene.take(scene.sent);
        }
    }
}
