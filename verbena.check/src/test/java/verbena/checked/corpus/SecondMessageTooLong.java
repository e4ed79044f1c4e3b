package verbena.checked.corpus;

import verbena.check.Rule;

/// A short note and a long message change places, and so meet each other's receive.
final class SecondMessageTooLong implements Program {
    @Override
    public Rule rule() {
        return Rule.RECEIVE_SHORT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 4_096));
        scene.there.postReceive(2, scene.remote.slice(4_096, 64)); // earlier
        try (var batch = scene.here.sendBatch()) {
            batch.send(3).sge(scene.local, 0, 64);
            batch.send(4).sge(scene.local, 64, 4_000).signaled();
            batch.submit(); // here
        }
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 4_096));
        scene.there.postReceive(2, scene.remote.slice(4_096, 64));
        try (var batch = scene.here.sendBatch()) {
            batch.send(3).sge(scene.local, 64, 4_000);
            batch.send(4).sge(scene.local, 0, 64).signaled();
            batch.submit();
        }
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.take(scene.arrived);
    }
}
