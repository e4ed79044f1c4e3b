package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// An atomic is posted to a peer that serves one at a time, by an end that has eight.
final class AtomicDepthZero implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_DEPTH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var asking = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var owner = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            owner.connect(asking.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(1));
            asking.connect(owner.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(8)); // earlier
            asking.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var asking = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var owner = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            owner.connect(asking.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(1));
            asking.connect(owner.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(1));
            asking.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8));
            scene.take(scene.sent);
        }
    }
}
