package verbena.checked.corpus;

import verbena.check.Rule;

/// A ping-pong has one buffer for what it sends and what it receives.
final class OneBufferForBoth implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_OVERLAP;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postReceive(1, scene.local.slice(0, 64)); // earlier
        scene.there.postReceive(2, scene.remote.slice(0, 64));
        scene.here.postSend(3, scene.local.slice(0, 64)); // here
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postReceive(1, scene.local.slice(0, 64));
        scene.there.postReceive(2, scene.remote.slice(0, 64));
        scene.here.postSend(3, scene.local.slice(64, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
