package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// The owner closes a region before it has taken the message behind its peer's WRITE.
final class RegionClosedBeforeMessage implements Program {
    @Override
    public Rule rule() {
        return Rule.REMOTE_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var target = scene.domain.allocate(4_096, Access.remoteAll());
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postWrite(1, scene.local.slice(0, 64), target.remote()); // earlier
        scene.here.postSend(2, scene.local.slice(64, 64));
        target.close(); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var target = scene.domain.allocate(4_096, Access.remoteAll());
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postWrite(1, scene.local.slice(0, 64), target.remote());
        scene.here.postSend(2, scene.local.slice(64, 64));
        scene.take(scene.arrived);
        target.close();
        scene.take(scene.sent);
        scene.take(scene.sent);
    }
}
