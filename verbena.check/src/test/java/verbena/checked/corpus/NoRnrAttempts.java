package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AckTimeout;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// A queue pair that may not wait sends two messages for one receive.
final class NoRnrAttempts implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_RECEIVE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var none = EndpointOptions.defaults().withRetries(new AckTimeout(14), 7, 0);
        try (var sender = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) { // earlier
            sender.connect(receiver.endpoint(), none);
            receiver.connect(sender.endpoint(), none);
            receiver.postReceive(1, scene.remote.slice(0, 64));
            sender.postSend(2, scene.local.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
            sender.postSend(3, scene.local.slice(0, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var none = EndpointOptions.defaults().withRetries(new AckTimeout(14), 7, 0);
        try (var sender = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint(), none);
            receiver.connect(sender.endpoint(), none);
            receiver.postReceive(1, scene.remote.slice(0, 64));
            receiver.postReceive(2, scene.remote.slice(64, 64));
            sender.postSend(2, scene.local.slice(0, 64));
            sender.postSend(3, scene.local.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }
}
