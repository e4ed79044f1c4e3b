package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import verbena.check.Rule;

/// The end of a long WRITE is changed while it is under way.
final class TailOfLargeWriteChanged implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_CHANGED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 65_536), scene.remote.remote()); // earlier
        scene.local.segment().set(JAVA_BYTE, 65_535, (byte) 1);
        scene.take(scene.sent); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postWrite(1, scene.local.slice(0, 65_536), scene.remote.remote());
        scene.take(scene.sent);
        scene.local.segment().set(JAVA_BYTE, 65_535, (byte) 1);
    }
}
