package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AckTimeout;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// A message is sent before the peer has a receive, with few attempts.
final class RnrLimited implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_RECEIVE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var few = EndpointOptions.defaults().withRetries(new AckTimeout(14), 7, 3);
        try (var sender = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) { // earlier
            sender.connect(receiver.endpoint(), few);
            receiver.connect(sender.endpoint(), few);
            sender.postSend(1, scene.local.slice(0, 64)); // here
            receiver.postReceive(2, scene.remote.slice(0, 64));
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var few = EndpointOptions.defaults().withRetries(new AckTimeout(14), 7, 3);
        try (var sender = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint(), few);
            receiver.connect(sender.endpoint(), few);
            receiver.postReceive(2, scene.remote.slice(0, 64));
            sender.postSend(1, scene.local.slice(0, 64));
            scene.take(scene.sent);
        }
    }
}
