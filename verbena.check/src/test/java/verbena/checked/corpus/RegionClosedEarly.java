package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A region is closed as soon as its WRITE was posted.
final class RegionClosedEarly implements Program {
    @Override
    public Rule rule() {
        return Rule.REGION_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var region = scene.domain.allocate(4_096, Access.local());
        scene.here.postWrite(1, region.slice(0, 64), scene.remote.remote()); // earlier
        region.close(); // here
        scene.take(scene.sent);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var region = scene.domain.allocate(4_096, Access.local());
        scene.here.postWrite(1, region.slice(0, 64), scene.remote.remote());
        scene.take(scene.sent);
        region.close();
    }
}
