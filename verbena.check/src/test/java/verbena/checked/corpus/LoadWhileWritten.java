package verbena.checked.corpus;

import verbena.check.Rule;

/// The owner looks at its memory while a WRITE may still come.
final class LoadWhileWritten implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote()); // earlier
        scene.remote.noteLoad(0, 64); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(1_024, 8));
        scene.here.postWriteWithImmediate(2, scene.local.slice(0, 64), scene.remote.remote(), 1);
        scene.take(scene.arrived);
        scene.remote.noteLoad(0, 64);
        scene.take(scene.sent);
    }
}
