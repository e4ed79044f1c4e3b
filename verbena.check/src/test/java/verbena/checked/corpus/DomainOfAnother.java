package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;

/// Each part of a program has made a protection domain, and one has the memory, another the queue pair.
final class DomainOfAnother implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_ACCESS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var other = scene.device.allocateProtectionDomain();
                var target = other.allocate(4_096, Access.remoteAll())) { // earlier
            scene.here.postWrite(1, scene.local.slice(0, 64), target.remote()); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var target = scene.domain.allocate(4_096, Access.remoteAll())) {
            scene.here.postWrite(1, scene.local.slice(0, 64), target.remote());
            scene.take(scene.sent);
        }
    }
}
