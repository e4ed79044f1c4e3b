package verbena.checked.corpus;

import verbena.check.Rule;

/// A READ has its target in the buffer of a posted receive.
final class ReadIntoReceive implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postReceive(1, scene.local.slice(0, 128)); // earlier
        scene.here.postRead(2, scene.remote.remote().slice(0, 64), scene.local.slice(64, 64)); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postReceive(1, scene.local.slice(0, 128));
        scene.here.postRead(2, scene.remote.remote().slice(0, 64), scene.local.slice(128, 64));
        scene.take(scene.sent);
    }
}
