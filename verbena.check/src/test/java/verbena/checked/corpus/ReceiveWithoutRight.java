package verbena.checked.corpus;

import java.util.Set;
import verbena.check.Rule;

/// Memory that was registered for sending, without any right, is posted as a receive.
final class ReceiveWithoutRight implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var target = scene.domain.allocate(4_096, Set.of())) { // earlier
            scene.there.postReceive(1, target.slice(0, 64)); // here
            scene.here.postSend(2, scene.local.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        scene.there.postReceive(1, scene.remote.slice(0, 64));
        scene.here.postSend(2, scene.local.slice(0, 64));
        scene.take(scene.sent);
        scene.take(scene.arrived);
    }
}
