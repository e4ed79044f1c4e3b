package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;

/// A peer names two buffers, and the second is written with the key of the first.
final class DescriptorsMixed implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var second = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.here.postWrite(
                    1, scene.local.slice(0, 64), scene.remote.remote().slice(0, 64));
            scene.take(scene.sent);
            int key = scene.remote.rkey();
            scene.here.postWrite(2, scene.local.slice(64, 64), new RemoteMemory(second.address(), key, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var second = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.here.postWrite(
                    1, scene.local.slice(0, 64), scene.remote.remote().slice(0, 64));
            scene.take(scene.sent);
            int key = second.rkey();
            scene.here.postWrite(2, scene.local.slice(64, 64), new RemoteMemory(second.address(), key, 64));
            scene.take(scene.sent);
        }
    }
}
