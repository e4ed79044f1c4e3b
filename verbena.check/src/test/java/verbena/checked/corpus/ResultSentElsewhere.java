package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// What a READ of one queue pair brings is sent on another one at once.
final class ResultSentElsewhere implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_OVERLAP;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            other.postReceive(1, scene.remote.slice(1_024, 64));
            scene.here.postRead(2, scene.remote.slice(0, 64).remote(), scene.local.slice(0, 64)); // earlier
            one.postSend(3, scene.local.slice(0, 64)); // here
            scene.take(scene.sent);
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            other.postReceive(1, scene.remote.slice(1_024, 64));
            scene.here.postRead(2, scene.remote.slice(0, 64).remote(), scene.local.slice(0, 64));
            scene.take(scene.sent);
            one.postSend(3, scene.local.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }
}
