package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A key is used after its region was closed.
final class KeyOfClosedRegion implements Program {
    @Override
    public Rule rule() {
        return Rule.KEY_CLOSED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var target = scene.domain.allocate(4_096, Access.remoteAll());
        var address = target.remote();
        target.close(); // earlier
        scene.here.postRead(1, address.slice(0, 64), scene.local.slice(0, 64)); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var target = scene.domain.allocate(4_096, Access.remoteAll());
        var address = target.remote();
        scene.here.postRead(1, address.slice(0, 64), scene.local.slice(0, 64));
        scene.take(scene.sent);
        target.close();
    }
}
