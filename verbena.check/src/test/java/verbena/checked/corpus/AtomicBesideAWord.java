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
        scene.here.postFetchAdd(1, scene.remote.remote().slice(4), 1, scene.local.slice(0, 8)); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote().slice(8), 1, scene.local.slice(0, 8));
        scene.take(scene.sent);
    }
}
