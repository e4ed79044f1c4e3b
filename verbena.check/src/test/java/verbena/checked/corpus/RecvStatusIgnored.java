package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Transition;

/// A receive that comes back because its queue pair was stopped is answered as a message.
final class RecvStatusIgnored implements Program {
    @Override
    public Rule rule() {
        return Rule.STATUS_IGNORED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postReceive(4, scene.local.slice(1_024, 64));
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.there.modify(new Transition.ToError());
        scene.take(scene.arrived);
        scene.there.postSend(3, scene.remote.slice(64, 16)); // here
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postReceive(4, scene.local.slice(1_024, 64));
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.there.modify(new Transition.ToError());
        scene.take(scene.arrived);
        if (scene.wc.ok()) {
            scene.there.postSend(3, scene.remote.slice(64, 16));
        }
    }
}
