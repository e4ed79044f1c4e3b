package verbena.checked.corpus;

import java.util.Set;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QueuePairOptions;

/// A region allows READs, and the queue pair of its owner was brought up without that right.
final class QueuePairClosedToReads implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var reader = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var owner = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            reader.connect(owner.endpoint());
            var rights = Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
            owner.connect(reader.endpoint(), EndpointOptions.defaults().withAccess(rights)); // earlier
            reader.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var reader = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var owner = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            reader.connect(owner.endpoint());
            var rights = Access.remoteRead();
            owner.connect(reader.endpoint(), EndpointOptions.defaults().withAccess(rights));
            reader.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
            scene.take(scene.sent);
        }
    }
}
