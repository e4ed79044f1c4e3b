package verbena.checked.corpus;

import verbena.check.Rule;

/// Bytes are written on from a buffer that is posted as a receive.
final class WriteFromReceive implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_OVERLAP;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postReceive(1, scene.local.slice(0, 512)); // earlier
        scene.here.postWrite(2, scene.local.slice(256, 64), scene.remote.remote()); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postReceive(1, scene.local.slice(0, 256));
        scene.here.postWrite(2, scene.local.slice(256, 64), scene.remote.remote());
        scene.take(scene.sent);
    }
}
