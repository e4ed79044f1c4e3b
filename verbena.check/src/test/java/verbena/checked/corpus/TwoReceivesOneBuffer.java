package verbena.checked.corpus;

import verbena.check.Rule;

/// All receives are posted with the same buffer.
final class TwoReceivesOneBuffer implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 256)); // earlier
        scene.there.postReceive(2, scene.remote.slice(0, 256)); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 256));
        scene.there.postReceive(2, scene.remote.slice(256, 256));
    }
}
