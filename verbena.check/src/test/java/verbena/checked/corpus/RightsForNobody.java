package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A region of the program's own is registered with all rights for peers.
final class RightsForNobody implements Program {
    @Override
    public Rule rule() {
        return Rule.RIGHT_UNUSED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var region = scene.domain.allocate(4_096, Access.remoteAll()); // earlier
        for (int i = 0; i < 64; i++) {
            scene.here.postWrite(i, region.slice(0, 1_024), scene.remote.remote());
            scene.take(scene.sent);
        }
        region.close(); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var region = scene.domain.allocate(4_096, Access.local());
        for (int i = 0; i < 64; i++) {
            scene.here.postWrite(i, region.slice(0, 1_024), scene.remote.remote());
            scene.take(scene.sent);
        }
        region.close();
    }
}
