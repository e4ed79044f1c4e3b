package verbena.checked.corpus;

import verbena.check.Rule;

/// The slots of a ring of receives are nearer than they are long.
final class SlotsOverlap implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 128)); // earlier
        scene.there.postReceive(2, scene.remote.slice(100, 128)); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 100));
        scene.there.postReceive(2, scene.remote.slice(100, 100));
    }
}
