package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryWindow;
import verbena.verbs.RemoteMemory;

/// An owner takes a window back while its peer still writes through it.
final class WindowTakenBack implements Program {
    @Override
    public Rule rule() {
        return Rule.REMOTE_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 1_024, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.arrived);
            scene.here.postWrite(2, scene.local.slice(0, 256), new RemoteMemory(region.address(), key, 256)); // earlier
            try (var batch = scene.there.sendBatch()) {
                batch.localInvalidate(3, key).signaled().submit(); // here
            }
            scene.take(scene.arrived);
            scene.take(scene.sent);
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
            scene.here.postWrite(2, scene.local.slice(0, 256), new RemoteMemory(region.address(), key, 256));
            scene.take(scene.sent);
            try (var batch = scene.there.sendBatch()) {
                batch.localInvalidate(3, key).signaled().submit();
            }
            scene.take(scene.arrived);
        }
    }
}
