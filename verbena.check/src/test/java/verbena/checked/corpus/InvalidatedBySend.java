package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryWindow;
import verbena.verbs.RemoteMemory;

/// A client sends a message that invalidates its key, and then uses the key again.
final class InvalidatedBySend implements Program {
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
            scene.there.postReceive(2, scene.remote.slice(0, 64));
            try (var batch = scene.here.sendBatch()) {
                batch.sendWithInvalidate(3, key)
                        .sge(scene.local, 0, 64)
                        .signaled()
                        .submit(); // earlier
            }
            scene.take(scene.sent);
            scene.take(scene.arrived);
            scene.here.postWrite(4, scene.local.slice(0, 256), new RemoteMemory(region.address(), key, 256)); // here
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
            scene.there.postReceive(2, scene.remote.slice(0, 64));
            scene.here.postWrite(4, scene.local.slice(0, 256), new RemoteMemory(region.address(), key, 256));
            scene.take(scene.sent);
            try (var batch = scene.here.sendBatch()) {
                batch.sendWithInvalidate(3, key)
                        .sge(scene.local, 0, 64)
                        .signaled()
                        .submit();
            }
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }
}
