package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import verbena.check.Rule;

/// The header of a message may be used again, but its body is not complete either.
final class SecondPieceChanged implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_CHANGED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.write(1, scene.remote.address(), scene.remote.rkey())
                    .sge(scene.local, 0, 100)
                    .sge(scene.local, 8_192, 100)
                    .signaled();
            batch.submit(); // earlier
        }
        scene.local.segment().set(JAVA_BYTE, 8_200, (byte) 9);
        scene.take(scene.sent); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.write(1, scene.remote.address(), scene.remote.rkey())
                    .sge(scene.local, 0, 100)
                    .sge(scene.local, 8_192, 100)
                    .signaled();
            batch.submit();
        }
        scene.local.segment().set(JAVA_BYTE, 100, (byte) 9);
        scene.take(scene.sent);
    }
}
