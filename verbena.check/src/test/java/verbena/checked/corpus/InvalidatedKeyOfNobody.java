package verbena.checked.corpus;

import verbena.check.Rule;

/// An answer invalidates a key, and the server takes it from the wrong field of the request.
final class InvalidatedKeyOfNobody implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        try (var batch = scene.here.sendBatch()) {
            batch.sendWithInvalidate(2, 0x777).sge(scene.local, 0, 64).signaled();
            batch.submit(); // here
        }
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
