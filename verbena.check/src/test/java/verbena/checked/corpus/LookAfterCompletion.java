package verbena.checked.corpus;

import verbena.check.Rule;

/// The owner looks at bytes because the WRITE of them has completed at its peer.
final class LookAfterCompletion implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote()); // earlier
        scene.take(scene.sent);
        scene.remote.noteLoad(0, 64); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
        scene.here.postRead(2, scene.remote.slice(0, 8).remote(), scene.local.slice(128, 8));
        scene.take(scene.sent);
        scene.take(scene.sent);
        scene.remote.noteLoad(0, 64);
    }
}
