package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;

/// Memory is registered anew, and a peer keeps the key that it was given first.
final class OldKeyAfterRegistering implements Program {
    @Override
    public Rule rule() {
        return Rule.KEY_CLOSED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var memory = scene.arena.allocate(4_096, 64);
        var first = scene.domain.register(memory, Access.remoteAll());
        int key = first.rkey();
        first.close(); // earlier
        try (var second = scene.domain.register(memory, Access.remoteAll())) {
            scene.here.postWrite(1, scene.local.slice(0, 64), new RemoteMemory(second.address(), key, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var memory = scene.arena.allocate(4_096, 64);
        var first = scene.domain.register(memory, Access.remoteAll());
        first.close();
        try (var second = scene.domain.register(memory, Access.remoteAll())) {
            scene.here.postWrite(1, scene.local.slice(0, 64), second.remote());
            scene.take(scene.sent);
        }
    }
}
