package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A WRITE to an offset still has the length of the whole buffer.
final class WrittenBeyond implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var target = scene.domain.allocate(4_096, Access.remoteAll())) { // earlier
            scene.here.postWrite(1, scene.local, 0, 4_096, target.address() + 64, target.rkey()); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var target = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.here.postWrite(1, scene.local, 0, 4_032, target.address() + 64, target.rkey());
            scene.take(scene.sent);
        }
    }
}
