package verbena.checked.corpus;

import verbena.check.Rule;

/// A message has a header in front, and its receive has room for the data alone.
final class MessageTooLong implements Program {
    @Override
    public Rule rule() {
        return Rule.RECEIVE_SHORT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 1_000)); // earlier
        scene.here.postSend(2, scene.local.slice(0, 1_016)); // here
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 1_016));
        scene.here.postSend(2, scene.local.slice(0, 1_016));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
