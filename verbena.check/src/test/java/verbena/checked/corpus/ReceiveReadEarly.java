package verbena.checked.corpus;

import verbena.check.Rule;

/// The bytes of a receive are read before its completion was taken.
final class ReceiveReadEarly implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64)); // earlier
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.remote.noteLoad(0, 64); // here
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.remote.noteLoad(0, 64);
    }
}
