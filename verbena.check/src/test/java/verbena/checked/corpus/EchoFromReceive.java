package verbena.checked.corpus;

import verbena.check.Rule;

/// A receive buffer is reposted while its bytes are still being echoed.
final class EchoFromReceive implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_OVERLAP;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 100));
        scene.here.postSend(1, scene.local.slice(0, 100));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.here.postReceive(2, scene.local.slice(1_000, 100));
        scene.there.postSend(2, scene.remote.slice(0, 100)); // earlier
        scene.there.postReceive(3, scene.remote.slice(0, 100)); // here
        scene.take(scene.arrived);
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 100));
        scene.here.postSend(1, scene.local.slice(0, 100));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.here.postReceive(2, scene.local.slice(1_000, 100));
        scene.there.postSend(2, scene.remote.slice(0, 100));
        scene.take(scene.arrived);
        scene.take(scene.sent);
        scene.there.postReceive(3, scene.remote.slice(0, 100));
    }
}
