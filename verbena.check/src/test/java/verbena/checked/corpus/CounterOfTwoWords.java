package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import verbena.check.Rule;

/// A counter has two words, and a reader takes both by one READ. When the low word wraps, the owner changes both.
final class CounterOfTwoWords implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 16), scene.local.slice(0, 16));
        scene.remote.segment().set(JAVA_LONG, 0, -1);
        scene.take(scene.sent);
        scene.here.postRead(2, scene.remote.remote().slice(0, 16), scene.local.slice(0, 16)); // earlier
        scene.remote.segment().set(JAVA_LONG, 8, 1); // the low word follows
        scene.take(scene.sent); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 16), scene.local.slice(0, 16));
        scene.remote.segment().set(JAVA_LONG, 0, -1);
        scene.take(scene.sent);
        scene.here.postRead(2, scene.remote.remote().slice(0, 16), scene.local.slice(0, 16));
        scene.remote.segment().set(JAVA_LONG, 0, 0); // it has one word
        scene.take(scene.sent);
    }
}
