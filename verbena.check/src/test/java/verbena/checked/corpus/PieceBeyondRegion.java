package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A piece is named by address and key, and is longer than its region.
final class PieceBeyondRegion implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var header = scene.domain.allocate(4_096, Access.local())) { // earlier
            try (var batch = scene.here.sendBatch()) {
                batch.write(1, scene.remote.address(), scene.remote.rkey())
                        .sge(header.lkey(), header.address() + 4_000, 200)
                        .signaled();
                batch.submit(); // here
            }
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var header = scene.domain.allocate(4_096, Access.local())) {
            try (var batch = scene.here.sendBatch()) {
                batch.write(1, scene.remote.address(), scene.remote.rkey())
                        .sge(header.lkey(), header.address() + 3_896, 200)
                        .signaled();
                batch.submit();
            }
            scene.take(scene.sent);
        }
    }
}
