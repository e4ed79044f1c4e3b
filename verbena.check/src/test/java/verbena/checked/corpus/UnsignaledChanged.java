package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import verbena.check.Rule;

/// An unsignalled WRITE is taken for done because its post has returned.
final class UnsignaledChanged implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_CHANGED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.write(1, scene.remote.address(), scene.remote.rkey())
                    .sge(scene.local, 0, 256)
                    .submit(); // earlier
        }
        scene.local.segment().set(JAVA_BYTE, 0, (byte) 1);
        scene.here.postWrite(2, scene.local.slice(1_024, 256), scene.remote.remote());
        scene.take(scene.sent); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.write(1, scene.remote.address(), scene.remote.rkey())
                    .sge(scene.local, 0, 256)
                    .submit();
        }
        scene.here.postWrite(2, scene.local.slice(1_024, 256), scene.remote.remote());
        scene.take(scene.sent);
        scene.local.segment().set(JAVA_BYTE, 0, (byte) 1);
    }
}
