package verbena.checked.corpus;

import verbena.check.Rule;

/// The data begin 12 bytes into a buffer, after a header.
final class BesideALine implements Program {
    @Override
    public Rule rule() {
        return Rule.UNALIGNED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        for (int i = 0; i < 64; i++) {
            scene.here.postWrite(i, scene.local.slice(12, 4_096), scene.remote.remote()); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        for (int i = 0; i < 64; i++) {
            scene.here.postWrite(i, scene.local.slice(64, 4_096), scene.remote.remote());
            scene.take(scene.sent);
        }
    }
}
