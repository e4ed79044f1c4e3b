package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.RemoteMemory;

/// One field of a record that is being read is written elsewhere.
final class PartOfReadForwarded implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_UNFENCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 1_024), scene.local.slice(0, 1_024)); // earlier
        RemoteMemory field = scene.remote.remote().slice(8_192, 8);
        scene.here.postWrite(2, scene.local.slice(1_016, 8), field); // here
        scene.take(scene.sent);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 1_024), scene.local.slice(0, 1_024));
        RemoteMemory field = scene.remote.remote().slice(8_192, 8);
        scene.here.postWrite(2, scene.local.slice(1_024, 8), field);
        scene.take(scene.sent);
        scene.take(scene.sent);
    }
}
