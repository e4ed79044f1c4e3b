package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import verbena.check.Rule;

/// One buffer for a number that is sent in a loop: the next number is put in at once.
final class CounterInBuffer implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_CHANGED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        for (int i = 0; i < 2; i++) {
            scene.local.segment().set(JAVA_LONG, 0, i + 1);
            scene.here.postWrite(i, scene.local.slice(0, 128), scene.remote.remote()); // earlier
        }
        scene.take(scene.sent); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        for (int i = 0; i < 2; i++) {
            scene.local.segment().set(JAVA_LONG, 0, i + 1);
            scene.here.postWrite(i, scene.local.slice(0, 128), scene.remote.remote());
            scene.take(scene.sent);
        }
    }
}
