package verbena.checked.corpus;

import verbena.check.Rule;

/// A program uses what a FETCH_ADD returns before it has completed.
final class ResultReadEarly implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8)); // earlier
        scene.local.noteLoad(0, 8); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8));
        scene.take(scene.sent);
        scene.local.noteLoad(0, 8);
    }
}
