package verbena.checked.corpus;

import verbena.check.Rule;

/// A program puts a mark into the target of a READ that may still come.
final class TargetStored implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.slice(0, 512).remote(), scene.local.slice(0, 512)); // earlier
        scene.local.noteStore(504, 8); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.slice(0, 512).remote(), scene.local.slice(0, 512));
        scene.take(scene.sent);
        scene.local.noteStore(504, 8);
    }
}
