package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// An owner sends by one region what a peer writes by another.
final class AliasedSend implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_LOCAL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var again = scene.domain.register(scene.remote.segment(), Access.remoteAll())) {
            scene.here.postReceive(1, scene.local.slice(4_096, 64));
            scene.there.postSend(2, scene.remote.slice(0, 64)); // earlier
            scene.here.postWrite(3, scene.local.slice(0, 64), again.remote().slice(0, 64)); // here
            scene.take(scene.sent);
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var again = scene.domain.register(scene.remote.segment(), Access.remoteAll())) {
            scene.here.postReceive(1, scene.local.slice(4_096, 64));
            scene.there.postSend(2, scene.remote.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
            scene.here.postWrite(3, scene.local.slice(0, 64), again.remote().slice(0, 64));
            scene.take(scene.sent);
        }
    }
}
