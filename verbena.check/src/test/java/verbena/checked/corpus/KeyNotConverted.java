package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.RemoteMemory;

/// A key is sent in one byte order and read in the other.
final class KeyNotConverted implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        int key = Integer.reverseBytes(scene.remote.rkey());
        scene.here.postWrite(1, scene.local.slice(0, 64), new RemoteMemory(scene.remote.address(), key, 64)); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        int key = scene.remote.rkey();
        scene.here.postWrite(1, scene.local.slice(0, 64), new RemoteMemory(scene.remote.address(), key, 64));
        scene.take(scene.sent);
    }
}
