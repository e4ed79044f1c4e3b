package verbena.checked.corpus;

import verbena.check.Rule;

/// The buffer of a WRITE with immediate is cleared at once.
final class ImmediateChanged implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_CHANGED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 0));
        scene.here.postWriteWithImmediate(2, scene.local.slice(0, 200), scene.remote.remote(), 3); // earlier
        scene.local.segment().asSlice(0, 200).fill((byte) 3);
        scene.take(scene.sent); // here
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 0));
        scene.here.postWriteWithImmediate(2, scene.local.slice(0, 200), scene.remote.remote(), 3);
        scene.take(scene.sent);
        scene.local.segment().asSlice(0, 200).fill((byte) 3);
        scene.take(scene.arrived);
    }
}
