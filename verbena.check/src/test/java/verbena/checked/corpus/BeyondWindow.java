package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryWindow;
import verbena.verbs.RemoteMemory;

/// A window is bound to the first kilobyte, and a record that begins there ends behind it.
final class BeyondWindow implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 1_024, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit(); // earlier
            }
            scene.take(scene.arrived);
            var record = new RemoteMemory(region.address() + 1_000, key, 256);
            scene.here.postWrite(2, scene.local.slice(0, 256), record); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 2_048, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.arrived);
            var record = new RemoteMemory(region.address() + 1_000, key, 256);
            scene.here.postWrite(2, scene.local.slice(0, 256), record);
            scene.take(scene.sent);
        }
    }
}
