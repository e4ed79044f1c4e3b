package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AckTimeout;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// The retry count was left at 0.
final class NoRetries implements Program {
    @Override
    public Rule rule() {
        return Rule.RETRY_ZERO;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var none = EndpointOptions.defaults().withRetries(new AckTimeout(14), 0, 7);
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent))) { // earlier
            one.connect(scene.there.endpoint(), none); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent))) {
            one.connect(scene.there.endpoint(), EndpointOptions.defaults().withRetries(new AckTimeout(14), 7, 7));
        }
    }
}
