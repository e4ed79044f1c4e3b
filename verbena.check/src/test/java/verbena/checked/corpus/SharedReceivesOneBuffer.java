package verbena.checked.corpus;

import verbena.check.Rule;

/// All receives of a shared queue are posted with one buffer.
final class SharedReceivesOneBuffer implements Program {
    @Override
    public Rule rule() {
        return Rule.TARGET_SHARED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1)) {
            shared.postReceive(1, scene.remote.slice(0, 256)); // earlier
            shared.postReceive(2, scene.remote.slice(0, 256)); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1)) {
            shared.postReceive(1, scene.remote.slice(0, 256));
            shared.postReceive(2, scene.remote.slice(256, 256));
        }
    }
}
