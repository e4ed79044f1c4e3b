package verbena.checked.corpus;

import verbena.check.Rule;

/// Words are written from registered memory.
final class ShortNotInline implements Program {
    @Override
    public Rule rule() {
        return Rule.NOT_INLINE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        for (int i = 0; i < 64; i++) {
            scene.here.postWrite(i, scene.local.slice(0, 8), scene.remote.remote()); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        for (int i = 0; i < 64; i++) {
            try (var batch = scene.here.sendBatch()) {
                batch.write(i, scene.remote.address(), scene.remote.rkey())
                        .inline(scene.local.segment().asSlice(0, 8))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.sent);
        }
    }
}
