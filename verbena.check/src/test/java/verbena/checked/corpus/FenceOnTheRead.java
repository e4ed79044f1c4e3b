package verbena.checked.corpus;

import verbena.check.Rule;

/// The fence is on the READ, and not on the WRITE that sends its result.
final class FenceOnTheRead implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_UNFENCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.read(1, scene.remote.address(), scene.remote.rkey()).fenced().sge(scene.local, 0, 64);
            batch.write(2, scene.remote.address() + 4_096, scene.remote.rkey())
                    .sge(scene.local, 0, 64)
                    .signaled();
            batch.submit(); // here earlier
        }
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.read(1, scene.remote.address(), scene.remote.rkey()).sge(scene.local, 0, 64);
            batch.write(2, scene.remote.address() + 4_096, scene.remote.rkey())
                    .fenced()
                    .sge(scene.local, 0, 64)
                    .signaled();
            batch.submit();
        }
        scene.take(scene.sent);
    }
}
