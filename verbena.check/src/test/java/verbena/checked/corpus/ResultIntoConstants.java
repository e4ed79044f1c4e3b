package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;

/// The result of a FETCH_ADD goes to a table that the device may only read.
final class ResultIntoConstants implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var constant = scene.domain.allocate(4_096, EnumSet.of(Access.REMOTE_READ))) { // earlier
            scene.here.postFetchAdd(1, scene.remote.remote(), 1, constant.slice(0, 8)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var constant = scene.domain.allocate(4_096, EnumSet.of(Access.REMOTE_READ, Access.LOCAL_WRITE))) {
            scene.here.postFetchAdd(1, scene.remote.remote(), 1, constant.slice(0, 8));
            scene.take(scene.sent);
        }
    }
}
