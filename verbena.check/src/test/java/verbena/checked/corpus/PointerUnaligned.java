package verbena.checked.corpus;

import java.util.Set;
import verbena.check.Rule;
import verbena.verbs.Capability;
import verbena.verbs.QueuePairOptions;

/// A pointer is published by an ATOMIC WRITE, at the second word of 4 bytes.
final class PointerUnaligned implements Program {
    @Override
    public Rule rule() {
        return Rule.ATOMIC_UNALIGNED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var options = QueuePairOptions.rc(scene.sent).withExtensions(Set.of(Capability.ATOMIC_WRITE));
        try (var one = scene.domain.createQueuePair(options); // earlier
                var other = scene.domain.createQueuePair(options)) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            try (var batch = one.sendBatch()) {
                batch.atomicWrite(1, scene.remote.address() + 4, scene.remote.rkey(), 7)
                        .signaled();
                batch.submit(); // here
            }
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var options = QueuePairOptions.rc(scene.sent).withExtensions(Set.of(Capability.ATOMIC_WRITE));
        try (var one = scene.domain.createQueuePair(options);
                var other = scene.domain.createQueuePair(options)) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            try (var batch = one.sendBatch()) {
                batch.atomicWrite(1, scene.remote.address() + 8, scene.remote.rkey(), 7)
                        .signaled();
                batch.submit();
            }
            scene.take(scene.sent);
        }
    }
}
