package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import verbena.check.Rule;

/// A reader takes a flag and the data beside it by one READ. The owner stores the data, and later the flag.
final class FlagBesideData implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
        scene.remote.segment().set(JAVA_LONG, 8, 40); // the data
        scene.take(scene.sent);
        scene.here.postRead(2, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64)); // earlier
        scene.remote.segment().set(JAVA_LONG, 0, 1); // the flag
        scene.take(scene.sent); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postRead(1, scene.remote.remote().slice(0, 8), scene.local.slice(0, 8));
        scene.remote.segment().set(JAVA_LONG, 8, 40);
        scene.take(scene.sent);
        scene.here.postRead(2, scene.remote.remote().slice(0, 8), scene.local.slice(0, 8));
        scene.remote.segment().set(JAVA_LONG, 0, 1);
        scene.take(scene.sent);
        scene.here.postRead(3, scene.remote.remote().slice(8, 56), scene.local.slice(8, 56));
        scene.take(scene.sent);
    }
}
