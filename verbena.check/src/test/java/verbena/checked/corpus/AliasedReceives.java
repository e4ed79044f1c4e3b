package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// Memory is registered twice, and receives of the two regions overlap.
final class AliasedReceives implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var again = scene.domain.register(scene.remote.segment(), Access.remoteAll())) {
            scene.there.postReceive(1, scene.remote.slice(0, 64)); // earlier
            scene.there.postReceive(2, again.slice(32, 64)); // here
            for (int i = 0; i < 2; i++) {
                scene.here.postSend(3, scene.local.slice(0, 64));
                scene.take(scene.sent);
                scene.take(scene.arrived);
            }
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var again = scene.domain.register(scene.remote.segment(), Access.remoteAll())) {
            scene.there.postReceive(1, scene.remote.slice(0, 64));
            scene.there.postReceive(2, again.slice(64, 64));
            for (int i = 0; i < 2; i++) {
                scene.here.postSend(3, scene.local.slice(0, 64));
                scene.take(scene.sent);
                scene.take(scene.arrived);
            }
        }
    }
}
