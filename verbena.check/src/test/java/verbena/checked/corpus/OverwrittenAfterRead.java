package verbena.checked.corpus;

import verbena.check.Rule;

/// A message is taken by a READ, and its slot is overwritten at once.
final class OverwrittenAfterRead implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_UNFENCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.read(1, scene.remote.address(), scene.remote.rkey()).sge(scene.local, 0, 64);
            batch.write(2, scene.remote.address(), scene.remote.rkey())
                    .sge(scene.local, 64, 64)
                    .signaled();
            batch.submit(); // here, earlier
        }
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.read(1, scene.remote.address(), scene.remote.rkey()).sge(scene.local, 0, 64);
            batch.write(2, scene.remote.address(), scene.remote.rkey())
                    .sge(scene.local, 64, 64)
                    .fenced()
                    .signaled();
            batch.submit();
        }
        scene.take(scene.sent);
    }
}
