package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryWindow;
import verbena.verbs.RemoteMemory;

/// An owner closes a window whose key its peer goes on to use.
final class WindowClosedEarly implements Program {
    @Override
    public Rule rule() {
        return Rule.KEY_INVALID;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND))) {
            MemoryWindow window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 64, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.arrived);
            window.close(); // earlier
            scene.here.postWrite(2, scene.local.slice(0, 64), new RemoteMemory(region.address(), key, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
                MemoryWindow window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 64, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.arrived);
            scene.here.postWrite(2, scene.local.slice(0, 64), new RemoteMemory(region.address(), key, 64));
            scene.take(scene.sent);
        }
    }
}
