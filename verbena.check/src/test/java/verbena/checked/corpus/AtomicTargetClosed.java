package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// The owner of a counter closes it while its peer counts.
final class AtomicTargetClosed implements Program {
    @Override
    public Rule rule() {
        return Rule.REMOTE_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var counter = scene.domain.allocate(64, Access.remoteAll());
        scene.here.postFetchAdd(1, counter.remote(), 1, scene.local.slice(0, 8)); // earlier
        counter.close(); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var counter = scene.domain.allocate(64, Access.remoteAll());
        scene.here.postFetchAdd(1, counter.remote(), 1, scene.local.slice(0, 8));
        scene.take(scene.sent);
        counter.close();
    }
}
