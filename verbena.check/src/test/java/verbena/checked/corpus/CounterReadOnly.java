package verbena.checked.corpus;

import java.util.Set;
import verbena.check.Rule;
import verbena.verbs.Access;

/// A counter is registered for READ and WRITE, and clients add to it.
final class CounterReadOnly implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        Set<Access> rights = Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
        try (var counter = scene.domain.allocate(64, rights)) { // earlier
            scene.here.postFetchAdd(1, counter.remote(), 1, scene.local.slice(0, 8)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var counter = scene.domain.allocate(64, Access.remoteAll())) {
            scene.here.postFetchAdd(1, counter.remote(), 1, scene.local.slice(0, 8));
            scene.take(scene.sent);
        }
    }
}
