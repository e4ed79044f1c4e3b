package verbena.checked.corpus;

import verbena.check.Rule;

/// A WRITE with immediate takes a receive too, which the peer has not posted.
final class ImmediateWithoutReceive implements Program {
    @Override
    public Rule rule() {
        return Rule.RNR_WAIT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postWriteWithImmediate(1, scene.local.slice(0, 8), scene.remote.remote(), 5); // here
        scene.there.postReceive(2, scene.remote.slice(0, 0));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(2, scene.remote.slice(0, 0));
        scene.here.postWriteWithImmediate(1, scene.local.slice(0, 64), scene.remote.remote(), 5);
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
