package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A peer reads the target of a READ that is not complete.
final class ReadWhileFilled implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_LOCAL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var mine = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.here.postRead(1, scene.remote.remote().slice(0, 256), mine.slice(0, 256)); // earlier
            scene.there.postRead(2, mine.remote().slice(0, 256), scene.remote.slice(1_024, 256)); // here
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var mine = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.here.postRead(1, scene.remote.remote().slice(0, 256), mine.slice(0, 256));
            scene.take(scene.sent);
            scene.there.postRead(2, mine.remote().slice(0, 256), scene.remote.slice(1_024, 256));
            scene.take(scene.arrived);
        }
    }
}
