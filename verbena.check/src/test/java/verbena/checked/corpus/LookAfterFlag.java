package verbena.checked.corpus;

import verbena.check.Rule;

/// Data and a flag are two WRITEs, and the completion of the second is taken for the arrival of both.
final class LookAfterFlag implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.write(1, scene.remote.address(), scene.remote.rkey()).sge(scene.local, 0, 1_000);
            batch.write(2, scene.remote.address() + 1_024, scene.remote.rkey())
                    .sge(scene.local, 1_024, 8)
                    .signaled();
            batch.submit(); // earlier
        }
        scene.take(scene.sent);
        scene.remote.noteLoad(0, 1_000); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(3, scene.remote.slice(2_048, 8));
        try (var batch = scene.here.sendBatch()) {
            batch.write(1, scene.remote.address(), scene.remote.rkey()).sge(scene.local, 0, 1_000);
            batch.send(2).sge(scene.local, 1_024, 8).signaled();
            batch.submit();
        }
        scene.take(scene.arrived);
        scene.remote.noteLoad(0, 1_000);
        scene.take(scene.sent);
    }
}
