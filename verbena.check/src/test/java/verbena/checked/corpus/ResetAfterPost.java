package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Transition;

/// A queue pair is reset to be used again, with receives posted.
final class ResetAfterPost implements Program {
    @Override
    public Rule rule() {
        return Rule.RESET_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64)); // earlier
        scene.there.modify(new Transition.ToReset()); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.there.modify(new Transition.ToReset());
    }
}
