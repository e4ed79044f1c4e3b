package verbena.checked.corpus;

import verbena.check.Rule;

/// A counter of 8 bytes lies at an odd place of a packed record.
final class AtomicBesideAWord implements Program {
    @Override
    public Rule rule() {
        return Rule.ATOMIC_UNALIGNED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.address() + 4, scene.remote.rkey(), 1, scene.local, 0); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.address() + 8, scene.remote.rkey(), 1, scene.local, 0);
        scene.take(scene.sent);
    }
}
