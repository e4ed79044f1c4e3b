package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A peer writes to a buffer that its owner sends.
final class WrittenWhileSent implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_LOCAL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var mine = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.there.postReceive(1, scene.remote, 0, 100);
            scene.here.postSend(2, mine, 0, 100); // earlier
            scene.there.postWrite(3, scene.remote, 1_024, 100, mine.address(), mine.rkey()); // here
            scene.take(scene.sent);
            scene.take(scene.arrived);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var mine = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.there.postReceive(1, scene.remote, 0, 100);
            scene.here.postSend(2, mine, 0, 100);
            scene.take(scene.arrived);
            scene.there.postWrite(3, scene.remote, 1_024, 100, mine.address(), mine.rkey());
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }
}
