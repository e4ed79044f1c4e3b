package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// The arena of a region's memory is closed first.
final class ArenaBeforeRegion implements Program {
    @Override
    public Rule rule() {
        return Rule.ARENA_CLOSED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var region = scene.domain.register(scene.arena.allocate(4_096), Access.local()); // earlier
        scene.arena.close();
        region.close(); // here
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var region = scene.domain.register(scene.arena.allocate(4_096), Access.local());
        region.close();
        scene.arena.close();
    }
}
