package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// The owner closes a region that its peer still writes to.
final class RemoteRegionClosed implements Program {
    @Override
    public Rule rule() {
        return Rule.REMOTE_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var target = scene.domain.allocate(4_096, Access.remoteAll());
        scene.here.postWrite(1, scene.local.slice(0, 64), target.remote()); // earlier
        target.close(); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var target = scene.domain.allocate(4_096, Access.remoteAll());
        scene.here.postWrite(1, scene.local.slice(0, 64), target.remote());
        scene.take(scene.sent);
        target.close();
    }
}
