package verbena.checked.corpus;

import verbena.check.Rule;

/// The peer posts its receive when the message is on its way.
final class ReceiveAfterSend implements Program {
    @Override
    public Rule rule() {
        return Rule.RNR_WAIT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postSend(1, scene.local.slice(0, 64)); // here
        scene.there.postReceive(2, scene.remote.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(2, scene.remote.slice(0, 64));
        scene.here.postSend(1, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
