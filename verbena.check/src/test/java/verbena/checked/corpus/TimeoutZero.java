package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AckTimeout;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// The timeout was left at 0.
final class TimeoutZero implements Program {
    @Override
    public Rule rule() {
        return Rule.TIMEOUT_NEVER;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent))) { // earlier
            one.connect(scene.there.endpoint(), EndpointOptions.defaults().withRetries(AckTimeout.NEVER, 7, 7)); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent))) {
            one.connect(scene.there.endpoint(), EndpointOptions.defaults().withRetries(new AckTimeout(14), 7, 7));
        }
    }
}
