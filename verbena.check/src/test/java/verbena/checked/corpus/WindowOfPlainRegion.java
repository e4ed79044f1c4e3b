package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryWindow;

/// A window is bound to a region that was registered without that right.
final class WindowOfPlainRegion implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE)); // earlier
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 1_024, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit(); // here
            }
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 1_024, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.arrived);
        }
    }
}
