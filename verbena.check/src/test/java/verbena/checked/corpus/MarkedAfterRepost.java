package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import verbena.check.Rule;

/// A server marks a request as done in a buffer that it has posted again.
final class MarkedAfterRepost implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_WRITTEN;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.there.postReceive(3, scene.remote.slice(0, 64)); // earlier
        scene.remote.segment().set(JAVA_LONG, 56, 1);
        scene.here.postSend(4, scene.local.slice(0, 64)); // here
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.remote.segment().set(JAVA_LONG, 56, 1);
        scene.there.postReceive(3, scene.remote.slice(0, 64));
        scene.here.postSend(4, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
