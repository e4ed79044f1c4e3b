package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A region is closed while receives still name it, and the connection goes on.
final class ReceiveRegionClosed implements Program {
    @Override
    public Rule rule() {
        return Rule.REGION_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var region = scene.domain.allocate(4_096, Access.local());
        scene.there.postReceive(1, region.slice(0, 64)); // earlier
        region.close(); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var region = scene.domain.allocate(4_096, Access.local());
        scene.there.postReceive(1, region.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
        region.close();
    }
}
