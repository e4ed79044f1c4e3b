package verbena.checked.corpus;

import java.util.EnumSet;
import java.util.Set;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;

/// The addresses of a region count from 0, and a peer names the address of its memory.
final class ZeroBasedByAddress implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        Set<Access> rights = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.ZERO_BASED);
        try (var region = scene.domain.allocate(4_096, rights)) { // earlier
            long address = region.segment().address();
            scene.here.postWrite(1, scene.local.slice(0, 64), new RemoteMemory(address, region.rkey(), 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        Set<Access> rights = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.ZERO_BASED);
        try (var region = scene.domain.allocate(4_096, rights)) {
            long address = region.address();
            scene.here.postWrite(1, scene.local.slice(0, 64), new RemoteMemory(address, region.rkey(), 64));
            scene.take(scene.sent);
        }
    }
}
