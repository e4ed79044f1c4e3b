package verbena.checked.corpus;

import verbena.check.Rule;

/// A program closes its queue pair when enough completions have come.
final class LeftInTheQueue implements Program {
    @Override
    public Rule rule() {
        return Rule.CLOSE_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
        scene.here.postWrite(2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64)); // earlier
        scene.take(scene.sent);
        scene.here.close(); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
        scene.here.postWrite(2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
        scene.take(scene.sent);
        scene.take(scene.sent);
        scene.here.close();
    }
}
