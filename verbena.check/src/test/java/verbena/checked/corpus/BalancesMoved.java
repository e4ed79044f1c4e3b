package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import verbena.check.Rule;

/// An owner moves an amount from one balance to another. A reader takes both by one READ, and may find it twice.
final class BalancesMoved implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        for (int i = 0; i < 2; i++) {
            scene.here.postRead(i, scene.remote.remote().slice(0, 16), scene.local.slice(0, 16)); // earlier
            scene.remote.segment().set(JAVA_LONG, 8L * i, 60); // one balance, then the other
            scene.take(scene.sent); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        for (int i = 0; i < 2; i++) {
            scene.here.postRead(1, scene.remote.remote().slice(16, 8), scene.local.slice(16, 8)); // a version
            scene.here.postRead(2, scene.remote.remote().slice(0, 16), scene.local.slice(0, 16));
            scene.here.postRead(3, scene.remote.remote().slice(16, 8), scene.local.slice(24, 8));
            scene.remote.segment().set(JAVA_LONG, 8L * i, 60);
            for (int j = 0; j < 3; j++) {
                scene.take(scene.sent);
            }
        }
    }
}
