package verbena.checked.corpus;

import verbena.check.Rule;

/// The last message is posted, and the queue pair closed.
final class ClosedAfterPost implements Program {
    @Override
    public Rule rule() {
        return Rule.CLOSE_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64)); // earlier
        scene.here.close(); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.here.close();
    }
}
