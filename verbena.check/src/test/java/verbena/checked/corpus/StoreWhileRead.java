package verbena.checked.corpus;

import verbena.check.Rule;

/// The owner changes a record while a peer reads it.
final class StoreWhileRead implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 256), scene.local.slice(0, 256)); // earlier
        scene.remote.noteStore(0, 64); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 256), scene.local.slice(0, 256));
        scene.take(scene.sent);
        scene.remote.noteStore(0, 64);
    }
}
