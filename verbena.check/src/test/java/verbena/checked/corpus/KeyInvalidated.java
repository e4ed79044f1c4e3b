package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryWindow;
import verbena.verbs.RemoteMemory;

/// A peer writes through a window whose owner has taken its key back.
final class KeyInvalidated implements Program {
    @Override
    public Rule rule() {
        return Rule.KEY_INVALID;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
                var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND))) {
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 4_096, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.arrived);
            try (var batch = scene.there.sendBatch()) {
                batch.localInvalidate(2, key).signaled().submit(); // earlier
            }
            scene.take(scene.arrived);
            scene.here.postWrite(3, scene.local.slice(0, 256), new RemoteMemory(region.address(), key, 256)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
                var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND))) {
            int key = window.nextRkey();
            try (var batch = scene.there.sendBatch()) {
                batch.bindWindow(1, window, key, region, region.address(), 4_096, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled();
                batch.submit();
            }
            scene.take(scene.arrived);
            scene.here.postWrite(3, scene.local.slice(0, 256), new RemoteMemory(region.address(), key, 256));
            scene.take(scene.sent);
            try (var batch = scene.there.sendBatch()) {
                batch.localInvalidate(2, key).signaled().submit();
            }
            scene.take(scene.arrived);
        }
    }
}
