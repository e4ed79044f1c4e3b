package verbena.checked.corpus;

import java.util.EnumSet;
import java.util.Set;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;

/// A window of type 2 was bound on one queue pair, and its key is given to the peer of another.
final class WindowOfAnotherPair implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        Set<Access> rights = EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND);
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived));
                var region = scene.domain.allocate(4_096, rights);
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
                var batch = scene.there.sendBatch()) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            int key = window.nextRkey();
            batch.bindWindow(1, window, key, region, region.address(), 1_024, Set.of(Access.REMOTE_WRITE))
                    .signaled();
            batch.submit(); // earlier
            scene.take(scene.arrived);
            one.postWrite(2, scene.local.slice(0, 64), new RemoteMemory(region.address(), key, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        Set<Access> rights = EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND);
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived));
                var region = scene.domain.allocate(4_096, rights);
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
                var batch = scene.there.sendBatch()) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            int key = window.nextRkey();
            batch.bindWindow(1, window, key, region, region.address(), 1_024, Set.of(Access.REMOTE_WRITE))
                    .signaled();
            batch.submit();
            scene.take(scene.arrived);
            scene.here.postWrite(2, scene.local.slice(0, 64), new RemoteMemory(region.address(), key, 64));
            scene.take(scene.sent);
        }
    }
}
