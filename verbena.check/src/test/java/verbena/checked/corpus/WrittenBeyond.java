package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;

/// A WRITE to an offset still has the length of the whole buffer.
final class WrittenBeyond implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var target = scene.domain.allocate(4_096, Access.remoteAll())) { // earlier
            var beyond = new RemoteMemory(target.address() + 64, target.rkey(), 4_096);
            scene.here.postWrite(1, scene.local.slice(0, 4_096), beyond); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var target = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.here.postWrite(1, scene.local.slice(0, 4_032), target.remote().slice(64, 4_032));
            scene.take(scene.sent);
        }
    }
}
