package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Transition;

/// A queue pair is reset with a WRITE under way.
final class SendsReset implements Program {
    @Override
    public Rule rule() {
        return Rule.RESET_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote()); // earlier
        scene.here.modify(new Transition.ToReset()); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
        scene.take(scene.sent);
        scene.here.modify(new Transition.ToReset());
    }
}
