package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// One end asks for more READs at once than the other serves.
final class ReadDepthTooLarge implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_DEPTH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var reader = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var owner = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            owner.connect(reader.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(1));
            reader.connect(owner.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(8)); // earlier
            reader.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var reader = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var owner = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            owner.connect(reader.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(8));
            reader.connect(owner.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(8));
            reader.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
            scene.take(scene.sent);
        }
    }
}
