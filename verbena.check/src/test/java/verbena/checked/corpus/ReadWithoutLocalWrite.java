package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;

/// A READ fills a region that only peers may read.
final class ReadWithoutLocalWrite implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var table = scene.domain.allocate(4_096, EnumSet.of(Access.REMOTE_READ))) { // earlier
            scene.here.postRead(1, scene.remote.remote().slice(0, 64), table.slice(0, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var table = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE))) {
            scene.here.postRead(1, scene.remote.remote().slice(0, 64), table.slice(0, 64));
            scene.take(scene.sent);
        }
    }
}
