package verbena.checked.corpus;

import verbena.check.Rule;

/// Two counters are read by atomics into one word.
final class AtomicResultsShared implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8)); // earlier
        scene.here.postFetchAdd(2, scene.remote.remote().slice(8), 1, scene.local.slice(0, 8)); // here
        scene.take(scene.sent);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8));
        scene.here.postFetchAdd(2, scene.remote.remote().slice(8), 1, scene.local.slice(8, 8));
        scene.take(scene.sent);
        scene.take(scene.sent);
    }
}
