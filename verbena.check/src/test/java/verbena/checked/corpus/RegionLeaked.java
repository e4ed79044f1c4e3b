package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A region is never closed.
final class RegionLeaked implements Program {
    @Override
    public Rule rule() {
        return Rule.LEAK;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var forgotten = scene.domain.allocate(64, Access.local()); // earlier
        scene.exit();
        forgotten.close();
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var closed = scene.domain.allocate(64, Access.local());
        closed.close();
        scene.exit();
    }
}
