package verbena.checked.corpus;

import java.time.Duration;
import verbena.check.Rule;
import verbena.verbs.AckTimeout;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// Two connections to one server are set up at once, and each client takes the number that is for the other.
final class NumbersCrossed implements Program {
    private static final EndpointOptions IMPATIENT =
            EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(1)), 1, 1);

    @Override
    public Rule rule() {
        return Rule.PEER_OTHER;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var two = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var ofOne = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived));
                var ofTwo = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            ofOne.connect(one.endpoint());
            ofTwo.connect(two.endpoint()); // earlier
            one.connect(ofTwo.endpoint(), IMPATIENT);
            two.connect(ofOne.endpoint(), IMPATIENT);
            one.postWrite(1, scene.local.slice(0, 64), scene.remote.remote()); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var two = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var ofOne = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived));
                var ofTwo = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            ofOne.connect(one.endpoint());
            ofTwo.connect(two.endpoint());
            one.connect(ofOne.endpoint(), IMPATIENT);
            two.connect(ofTwo.endpoint(), IMPATIENT);
            one.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            scene.take(scene.sent);
        }
    }
}
