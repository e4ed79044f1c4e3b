package verbena.checked.corpus;

import verbena.check.Rule;

/// Two READs are to be compared, and have one target.
final class TwoReadsOneTarget implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64)); // earlier
        scene.here.postRead(2, scene.remote.remote().slice(64, 64), scene.local.slice(0, 64)); // here
        scene.take(scene.sent);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
        scene.here.postRead(2, scene.remote.remote().slice(64, 64), scene.local.slice(64, 64));
        scene.take(scene.sent);
        scene.take(scene.sent);
    }
}
