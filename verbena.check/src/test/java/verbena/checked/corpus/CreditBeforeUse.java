package verbena.checked.corpus;

import verbena.check.Rule;

/// A consumer gives a slot of its ring back, and then reads what is in it.
final class CreditBeforeUse implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_PROCESSOR;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(8_192, 8));
        scene.here.postReceive(2, scene.local.slice(8_192, 8));
        scene.here.postWrite(3, scene.local.slice(0, 64), scene.remote.remote());
        scene.here.postSend(4, scene.local.slice(64, 8));
        scene.take(scene.sent);
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.there.postSend(5, scene.remote.slice(8_208, 8)); // the credit
        scene.take(scene.arrived);
        scene.take(scene.sent);
        scene.here.postWrite(6, scene.local.slice(128, 64), scene.remote.remote()); // earlier
        scene.remote.noteLoad(0, 64); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(8_192, 8));
        scene.here.postReceive(2, scene.local.slice(8_192, 8));
        scene.here.postWrite(3, scene.local.slice(0, 64), scene.remote.remote());
        scene.here.postSend(4, scene.local.slice(64, 8));
        scene.take(scene.sent);
        scene.take(scene.sent);
        scene.take(scene.arrived);
        scene.remote.noteLoad(0, 64);
        scene.there.postSend(5, scene.remote.slice(8_208, 8)); // the credit
        scene.take(scene.arrived);
        scene.take(scene.sent);
        scene.here.postWrite(6, scene.local.slice(128, 64), scene.remote.remote());
        scene.take(scene.sent);
    }
}
