package verbena.checked.corpus;

import verbena.check.Rule;

/// The owner counts by its processor what a peer counts by atomics.
final class CounterStored implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8)); // earlier
        scene.remote.noteStore(0, 8); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8));
        scene.there.postFetchAdd(2, scene.remote.remote(), 1, scene.remote.slice(64, 8));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
