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
        scene.here.postFetchAdd(1, scene.remote.address(), scene.remote.rkey(), 1, scene.local, 0); // earlier
        scene.remote.noteStore(0, 8); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.address(), scene.remote.rkey(), 1, scene.local, 0);
        scene.there.postFetchAdd(2, scene.remote.address(), scene.remote.rkey(), 1, scene.remote, 64);
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
