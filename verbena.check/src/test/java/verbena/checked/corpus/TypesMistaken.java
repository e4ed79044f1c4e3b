package verbena.checked.corpus;

import java.time.Duration;
import verbena.check.Rule;
import verbena.verbs.AckTimeout;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// A client makes a reliable connection, and its server an unreliable one.
final class TypesMistaken implements Program {
    private static final EndpointOptions IMPATIENT =
            EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(1)), 1, 1);

    @Override
    public Rule rule() {
        return Rule.PEER_OTHER;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.uc(scene.arrived))) {
            other.connect(one.endpoint()); // earlier
            one.connect(other.endpoint(), IMPATIENT);
            one.postWrite(1, scene.local.slice(0, 64), scene.remote.remote()); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            other.connect(one.endpoint());
            one.connect(other.endpoint(), IMPATIENT);
            one.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            scene.take(scene.sent);
        }
    }
}
