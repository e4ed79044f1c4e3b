package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Transition;

/// A receive is posted again after each message, and messages come in pairs.
final class OneReceiveTwoMessages implements Program {
    @Override
    public Rule rule() {
        return Rule.RNR_WAIT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.here.postSend(3, scene.local.slice(64, 64)); // here
        scene.take(scene.arrived);
        scene.there.postReceive(4, scene.remote.slice(0, 64));
        scene.take(scene.arrived);
        scene.take(scene.sent);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.there.postReceive(2, scene.remote.slice(64, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.here.postSend(3, scene.local.slice(64, 64));
        scene.take(scene.arrived);
        scene.take(scene.arrived);
        scene.take(scene.sent);
        scene.take(scene.sent);
        scene.here.modify(new Transition.ToError());
        scene.here.postSend(4, scene.local.slice(0, 64)); // the last to come back, and meets no receive
        scene.take(scene.sent);
    }
}
