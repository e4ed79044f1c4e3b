package verbena.checked.corpus;

import verbena.check.Rule;

/// Each of sixteen WRITEs of a batch asks for a completion.
final class EachSignaled implements Program {
    @Override
    public Rule rule() {
        return Rule.ALL_SIGNALED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            for (int i = 0; i < 16; i++) {
                batch.write(i, scene.remote.address() + i * 128L, scene.remote.rkey())
                        .sge(scene.local, i * 128L, 128)
                        .signaled();
            }
            batch.submit(); // here
        }
        for (int i = 0; i < 16; i++) {
            scene.take(scene.sent);
        }
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
