package verbena.checked.corpus;

import java.util.EnumSet;
import verbena.check.Rule;
import verbena.verbs.Access;

/// The buffers of a shared receive queue are in a region that the device may not write to.
final class SharedReceiveWithoutRight implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var buffers = scene.domain.allocate(4_096, EnumSet.of(Access.REMOTE_READ))) { // earlier
            shared.postReceive(1, buffers.slice(0, 64)); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var buffers = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE))) {
            shared.postReceive(1, buffers.slice(0, 64));
        }
    }
}
