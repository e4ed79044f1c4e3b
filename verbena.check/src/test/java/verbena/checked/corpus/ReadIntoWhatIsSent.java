package verbena.checked.corpus;

import verbena.check.Rule;

/// Another queue pair reads into a buffer that is still sent.
final class ReadIntoWhatIsSent implements Program {
    @Override
    public Rule rule() {
        return Rule.SEND_OVERLAP;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64)); // earlier
        scene.there.postRead(3, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64)); // here
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.take(scene.arrived);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.there.postRead(3, scene.remote.remote().slice(0, 64), scene.local.slice(0, 64));
        scene.take(scene.arrived);
    }
}
