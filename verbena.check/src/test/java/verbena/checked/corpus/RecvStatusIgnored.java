package verbena.checked.corpus;

import verbena.check.Rule;

/// A receive has failed, and its thread answers all the same.
final class RecvStatusIgnored implements Program {
    @Override
    public Rule rule() {
        return Rule.STATUS_IGNORED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postReceive(4, scene.local, 1_024, 64);
        scene.there.postReceive(1, scene.remote, 0, 16);
        scene.here.postSend(2, scene.local, 0, 64);
        scene.take(scene.arrived);
        scene.there.postSend(3, scene.remote, 64, 16); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postReceive(4, scene.local, 1_024, 64);
        scene.there.postReceive(1, scene.remote, 0, 16);
        scene.here.postSend(2, scene.local, 0, 64);
        scene.take(scene.arrived);
        if (scene.wc.ok()) {
            scene.there.postSend(3, scene.remote, 64, 16);
        }
        scene.take(scene.sent);
    }
}
