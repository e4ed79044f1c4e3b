package verbena.checked.corpus;

import verbena.check.Rule;

/// The number that a FETCH_ADD gives is written on before it has come.
final class TicketWritten implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_UNFENCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8)); // earlier
        scene.here.postWrite(2, scene.local.slice(0, 8), scene.remote.remote().slice(64, 8)); // here
        scene.take(scene.sent);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.here.postFetchAdd(1, scene.remote.remote(), 1, scene.local.slice(0, 8));
        try (var batch = scene.here.sendBatch()) {
            batch.write(2, scene.remote.address() + 64, scene.remote.rkey())
                    .sge(scene.local, 0, 8)
                    .fenced()
                    .signaled()
                    .submit();
        }
        scene.take(scene.sent);
        scene.take(scene.sent);
    }
}
