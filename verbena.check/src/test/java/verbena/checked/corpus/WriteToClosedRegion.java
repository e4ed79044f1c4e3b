package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A peer keeps the key of a buffer that its owner has replaced.
final class WriteToClosedRegion implements Program {
    @Override
    public Rule rule() {
        return Rule.KEY_CLOSED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var first = scene.domain.allocate(4_096, Access.remoteAll());
        var known = first.remote();
        first.close(); // earlier
        var second = scene.domain.allocate(4_096, Access.remoteAll());
        scene.here.postWrite(1, scene.local.slice(0, 64), known); // here
        scene.take(scene.sent);
        second.close();
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var first = scene.domain.allocate(4_096, Access.remoteAll());
        first.close();
        var second = scene.domain.allocate(4_096, Access.remoteAll());
        var known = second.remote();
        scene.here.postWrite(1, scene.local.slice(0, 64), known);
        scene.take(scene.sent);
        second.close();
    }
}
