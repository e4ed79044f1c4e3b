package verbena.checked.corpus;

import verbena.check.Rule;

/// A server answers before it has posted the receive for the next request.
final class AnsweredBeforeRepost implements Program {
    @Override
    public Rule rule() {
        return Rule.RNR_WAIT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postReceive(2, scene.local.slice(1_024, 64));
        scene.here.postSend(3, scene.local.slice(0, 64));
        scene.take(scene.arrived);
        scene.there.postSend(4, scene.remote.slice(128, 64));
        scene.take(scene.sent);
        scene.take(scene.sent);
        scene.here.postSend(5, scene.local.slice(64, 64)); // here
        scene.there.postReceive(6, scene.remote.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postReceive(2, scene.local.slice(1_024, 64));
        scene.here.postSend(3, scene.local.slice(0, 64));
        scene.take(scene.arrived);
        scene.there.postReceive(6, scene.remote.slice(0, 64));
        scene.there.postSend(4, scene.remote.slice(128, 64));
        scene.take(scene.sent);
        scene.take(scene.sent);
        scene.here.postSend(5, scene.local.slice(64, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.take(scene.arrived);
    }
}
