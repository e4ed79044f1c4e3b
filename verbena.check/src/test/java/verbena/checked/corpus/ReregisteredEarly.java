package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// A region gets other rights while a SEND from it is outstanding.
final class ReregisteredEarly implements Program {
    @Override
    public Rule rule() {
        return Rule.REGION_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var buffers = scene.domain.allocate(4_096, Access.local())) {
            scene.there.postReceive(1, scene.remote.slice(0, 256));
            scene.here.postSend(2, buffers.slice(0, 256)); // earlier
            buffers.reregister(scene.domain, Access.remoteAll()); // here
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var buffers = scene.domain.allocate(4_096, Access.local())) {
            scene.there.postReceive(1, scene.remote.slice(0, 256));
            scene.here.postSend(2, buffers.slice(0, 256));
            scene.take(scene.sent);
            scene.take(scene.arrived);
            buffers.reregister(scene.domain, Access.remoteAll());
        }
    }
}
