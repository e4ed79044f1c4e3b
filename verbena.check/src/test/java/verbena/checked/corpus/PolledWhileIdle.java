package verbena.checked.corpus;

import verbena.check.Rule;

/// A server polls while its client rests.
final class PolledWhileIdle implements Program {
    @Override
    public Rule rule() {
        return Rule.POLL_IDLE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        for (int i = 0; i < 4; i++) {
            for (int rest = 0; rest < 10_000; rest++) {
                boolean _ = scene.arrived.poll(scene.wc);
            }
            scene.there.postReceive(1, scene.remote.slice(0, 100));
            scene.here.postSend(2, scene.local.slice(0, 100));
            while (!scene.arrived.poll(scene.wc)) { // here
                Thread.onSpinWait();
            }
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        for (int i = 0; i < 4; i++) {
            scene.there.postReceive(1, scene.remote.slice(0, 100));
            scene.here.postSend(2, scene.local.slice(0, 100));
            scene.take(scene.arrived);
            scene.take(scene.sent);
        }
    }
}
