package verbena.checked.corpus;

import verbena.check.Rule;

/// The memory of a WRITE is used again after a time instead of after its completion.
final class WriteChanged implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_CHANGED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 4_096), scene.remote.remote()); // earlier
        scene.local.segment().asSlice(0, 4_096).fill((byte) 7);
        scene.take(scene.sent); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 4_096), scene.remote.remote());
        scene.take(scene.sent);
        scene.local.segment().asSlice(0, 4_096).fill((byte) 7);
    }
}
