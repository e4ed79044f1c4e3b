package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A message is sent from memory that was given back.
final class SendFromClosedArena implements Program {
    @Override
    public Rule rule() {
        return Rule.ARENA_CLOSED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var region = scene.domain.register(scene.arena.allocate(4_096), Access.local()); // earlier, earlier
        scene.arena.close();
        scene.here.postWrite(1, region.slice(0, 64), scene.remote.remote()); // here
        scene.take(scene.sent);
        region.close(); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var region = scene.domain.register(scene.arena.allocate(4_096), Access.local());
        scene.here.postWrite(1, region.slice(0, 64), scene.remote.remote());
        scene.take(scene.sent);
        region.close();
        scene.arena.close();
    }
}
