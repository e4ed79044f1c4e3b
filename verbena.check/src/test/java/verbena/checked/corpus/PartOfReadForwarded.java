package verbena.checked.corpus;

import verbena.check.Rule;

/// One field of a record that is being read is written elsewhere.
final class PartOfReadForwarded implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_UNFENCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.address(), scene.remote.rkey(), scene.local, 0, 1_024); // earlier
        scene.here.postWrite(2, scene.local, 1_016, 8, scene.remote.address() + 8_192, scene.remote.rkey()); // here
        scene.take(scene.sent);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.address(), scene.remote.rkey(), scene.local, 0, 1_024);
        scene.here.postWrite(2, scene.local, 1_024, 8, scene.remote.address() + 8_192, scene.remote.rkey());
        scene.take(scene.sent);
        scene.take(scene.sent);
    }
}
