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
            scene.there.postReceive(1, scene.remote.slice(0, 100));
            scene.here.postSend(2, mine.slice(0, 100)); // earlier
            scene.there.postWrite(3, scene.remote.slice(1_024, 100), mine.remote()); // here
            scene.take(scene.sent);
            scene.take(scene.arrived);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var mine = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.there.postReceive(1, scene.remote.slice(0, 100));
            scene.here.postSend(2, mine.slice(0, 100));
            scene.take(scene.arrived);
            scene.there.postWrite(3, scene.remote.slice(1_024, 100), mine.remote());
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }
}
