package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

/// The limit of a shared queue is armed once, although its event disarms it.
final class LimitArmedOnce implements Program {
    @Override
    public Rule rule() {
        return Rule.SRQ_UNARMED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair( // earlier
                        QueuePairOptions.rc(scene.arrived).withSharedReceiveQueue(shared))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            shared.postReceive(1, scene.remote.slice(0, 256));
            shared.postReceive(2, scene.remote.slice(256, 256));
            shared.armLimit(2);
            send(scene, one);
            shared.postReceive(3, scene.remote.slice(512, 256)); // the event has come
            send(scene, one);
            send(scene, one);
            one.postSend(5, scene.local.slice(0, 256)); // here
            shared.postReceive(4, scene.remote.slice(0, 256));
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(
                        QueuePairOptions.rc(scene.arrived).withSharedReceiveQueue(shared))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            shared.postReceive(1, scene.remote.slice(0, 256));
            shared.postReceive(2, scene.remote.slice(256, 256));
            shared.armLimit(2);
            send(scene, one);
            shared.postReceive(3, scene.remote.slice(512, 256)); // the event has come
            shared.armLimit(2);
            send(scene, one);
            send(scene, one);
            one.postSend(5, scene.local.slice(0, 256));
            shared.postReceive(4, scene.remote.slice(0, 256));
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    private static void send(TwoEnds scene, QueuePair one) throws InterruptedException {
        one.postSend(4, scene.local.slice(0, 256));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
