package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// One queue pair writes the data, and another announces them.
final class AnnouncedByAnother implements Program {
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
            scene.here.postReceive(2, scene.local.slice(1_024, 64));
            one.postWrite(3, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64)); // earlier
            scene.here.postSend(4, scene.local.slice(0, 8));
            scene.take(scene.arrived);
            scene.there.postSend(5, scene.remote.slice(64, 64)); // here
            for (int i = 0; i < 3; i++) {
                scene.take(scene.sent);
            }
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 8));
        scene.here.postReceive(2, scene.local.slice(1_024, 64));
        scene.here.postWrite(3, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
        scene.here.postSend(4, scene.local.slice(0, 8));
        scene.take(scene.arrived);
        scene.there.postSend(5, scene.remote.slice(64, 64));
        for (int i = 0; i < 3; i++) {
            scene.take(scene.sent);
        }
        scene.take(scene.arrived);
    }
}
