package verbena.checked.corpus;

import java.util.EnumSet;
import java.util.Set;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.EndpointOptions;
import verbena.verbs.FlushTarget;
import verbena.verbs.QueuePairOptions;

/// A region lets peers write, but not FLUSH.
final class FlushWithoutRight implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var options = QueuePairOptions.rc(scene.sent).withExtensions(Set.of(Capability.FLUSH));
        Set<Access> rights = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
        try (var one = scene.domain.createQueuePair(options);
                var other = scene.domain.createQueuePair(options);
                var region = scene.domain.allocate(4_096, rights)) { // earlier
            one.connect(other.endpoint(), flushing());
            other.connect(one.endpoint(), flushing());
            try (var batch = one.sendBatch()) {
                batch.flush(1, region.address(), region.rkey(), 64, Set.of(FlushTarget.GLOBAL))
                        .signaled();
                batch.submit(); // here
            }
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var options = QueuePairOptions.rc(scene.sent).withExtensions(Set.of(Capability.FLUSH));
        Set<Access> rights = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.FLUSH_GLOBAL);
        try (var one = scene.domain.createQueuePair(options);
                var other = scene.domain.createQueuePair(options);
                var region = scene.domain.allocate(4_096, rights)) {
            one.connect(other.endpoint(), flushing());
            other.connect(one.endpoint(), flushing());
            try (var batch = one.sendBatch()) {
                batch.flush(1, region.address(), region.rkey(), 64, Set.of(FlushTarget.GLOBAL))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.sent);
        }
    }

    private static EndpointOptions flushing() {
        Set<Access> access = EnumSet.copyOf(EndpointOptions.defaults().access());
        access.add(Access.FLUSH_GLOBAL);
        return EndpointOptions.defaults().withAccess(access);
    }
}
