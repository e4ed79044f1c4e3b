package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.RemoteMemory;

/// A loop posts each receive again when it completes, also when it has failed.
final class ReceivePostedToErr implements Program {
    @Override
    public Rule rule() {
        return Rule.STATUS_IGNORED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), new RemoteMemory(scene.remote.address(), 0, 64));
        scene.take(scene.sent);
        scene.here.postReceive(2, scene.local.slice(0, 64)); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), new RemoteMemory(scene.remote.address(), 0, 64));
        scene.take(scene.sent);
        if (scene.wc.ok()) {
            scene.here.postReceive(2, scene.local.slice(0, 64));
            scene.take(scene.sent);
        }
    }
}
