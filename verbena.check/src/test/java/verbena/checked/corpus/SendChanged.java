package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import verbena.check.Rule;

/// The buffer is refilled before its SEND has completed.
final class SendChanged implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_CHANGED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 100));
        scene.here.postSend(2, scene.local.slice(0, 100)); // earlier
        scene.local.segment().set(JAVA_BYTE, 50, (byte) 1);
        scene.take(scene.sent); // here
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 100));
        scene.here.postSend(2, scene.local.slice(0, 100));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.local.segment().set(JAVA_BYTE, 50, (byte) 1);
    }
}
