package verbena.checked.corpus;

import verbena.check.Rule;

/// A receive is posted again although its completion was not taken.
final class RepostedTooEarly implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64)); // earlier
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.there.postReceive(1, scene.remote.slice(0, 64)); // here
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.there.postReceive(1, scene.remote.slice(0, 64));
    }
}
