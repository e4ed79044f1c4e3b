package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import verbena.check.Rule;

/// A buffer is cleared after its receive was posted.
final class ReceiveCleared implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_WRITTEN;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.remote.segment().set(JAVA_BYTE, 0, (byte) 7);
        scene.there.postReceive(1, scene.remote.slice(0, 100)); // earlier
        scene.remote.segment().asSlice(0, 100).fill((byte) 0);
        scene.here.postSend(2, scene.local.slice(0, 100)); // here
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.remote.segment().set(JAVA_BYTE, 0, (byte) 7);
        scene.remote.segment().asSlice(0, 100).fill((byte) 0);
        scene.there.postReceive(1, scene.remote.slice(0, 100));
        scene.here.postSend(2, scene.local.slice(0, 100));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
