package verbena.checked.corpus;

import verbena.check.Rule;

/// Sixteen WRITEs are posted by sixteen calls.
final class DoorbellForEach implements Program {
    @Override
    public Rule rule() {
        return Rule.ONE_BY_ONE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        for (int i = 0; i < 16; i++) {
            try (var batch = scene.here.sendBatch()) {
                batch.write(i, scene.remote.address() + i * 128L, scene.remote.rkey())
                        .sge(scene.local, i * 128L, 128);
                (i == 15 ? batch.signaled() : batch).submit(); // here
            }
        }
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            for (int i = 0; i < 16; i++) {
                batch.write(i, scene.remote.address() + i * 128L, scene.remote.rkey())
                        .sge(scene.local, i * 128L, 128);
            }
            batch.signaled().submit();
        }
        scene.take(scene.sent);
    }
}
