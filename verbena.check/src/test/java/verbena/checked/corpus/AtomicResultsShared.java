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
        scene.here.postFetchAdd(1, scene.remote.address(), scene.remote.rkey(), 1, scene.local, 0); // earlier
        scene.here.postFetchAdd(2, scene.remote.address() + 8, scene.remote.rkey(), 1, scene.local, 0); // here
        scene.take(scene.sent);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.address(), scene.remote.rkey(), 1, scene.local, 0);
        scene.here.postFetchAdd(2, scene.remote.address() + 8, scene.remote.rkey(), 1, scene.local, 8);
        scene.take(scene.sent);
        scene.take(scene.sent);
    }
}
