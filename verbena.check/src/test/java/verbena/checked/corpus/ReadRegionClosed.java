package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// The target of a READ is closed before the READ is complete.
final class ReadRegionClosed implements Program {
    @Override
    public Rule rule() {
        return Rule.REGION_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var region = scene.domain.allocate(4_096, Access.local());
        scene.here.postRead(1, scene.remote.remote().slice(0, 64), region.slice(0, 64)); // earlier
        region.close(); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var region = scene.domain.allocate(4_096, Access.local());
        scene.here.postRead(1, scene.remote.remote().slice(0, 64), region.slice(0, 64));
        scene.take(scene.sent);
        region.close();
    }
}
