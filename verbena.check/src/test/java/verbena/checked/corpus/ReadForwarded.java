package verbena.checked.corpus;

import verbena.check.Rule;

/// The result of a READ is forwarded before the READ is complete.
final class ReadForwarded implements Program {
    @Override
    public Rule rule() {
        return Rule.READ_UNFENCED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(1_000, 64));
        try (var batch = scene.here.sendBatch()) {
            batch.read(2, scene.remote.address(), scene.remote.rkey()).sge(scene.local, 0, 64);
            batch.send(3).sge(scene.local, 0, 64).signaled();
            batch.submit(); // here, earlier
        }
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(1_000, 64));
        try (var batch = scene.here.sendBatch()) {
            batch.read(2, scene.remote.address(), scene.remote.rkey()).sge(scene.local, 0, 64);
            batch.send(3).sge(scene.local, 0, 64).fenced().signaled();
            batch.submit();
        }
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
