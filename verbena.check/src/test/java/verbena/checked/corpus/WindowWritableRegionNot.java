package verbena.checked.corpus;

import java.util.EnumSet;
import java.util.Set;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryWindow;

/// A window lets a peer write to a region that its own device may only read.
final class WindowWritableRegionNot implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.REMOTE_READ, Access.MW_BIND)); // earlier
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
                var batch = scene.there.sendBatch()) {
            Set<Access> rights = EnumSet.of(Access.REMOTE_WRITE);
            batch.bindWindow(1, window, window.nextRkey(), region, region.address(), 1_024, rights)
                    .signaled();
            batch.submit(); // here
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
                var batch = scene.there.sendBatch()) {
            Set<Access> rights = EnumSet.of(Access.REMOTE_WRITE);
            batch.bindWindow(1, window, window.nextRkey(), region, region.address(), 1_024, rights)
                    .signaled();
            batch.submit();
            scene.take(scene.arrived);
        }
    }
}
