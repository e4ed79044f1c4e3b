package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// Each message has a region of its own, which is closed after it.
final class RegisteredForEach implements Program {
    @Override
    public Rule rule() {
        return Rule.REGISTER_HOT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var memory = scene.arena.allocate(1_024);
        for (int i = 0; i < 65; i++) {
            var region = scene.domain.register(memory, Access.local()); // here
            scene.here.postWrite(i, region.slice(0, 1_024), scene.remote.remote());
            scene.take(scene.sent);
            region.close();
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var memory = scene.arena.allocate(1_024);
        var region = scene.domain.register(memory, Access.local());
        for (int i = 0; i < 65; i++) {
            scene.here.postWrite(i, region.slice(0, 1_024), scene.remote.remote());
            scene.take(scene.sent);
        }
        region.close();
    }
}
