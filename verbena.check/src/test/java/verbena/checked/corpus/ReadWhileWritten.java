package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A record is read while another queue pair writes it.
final class ReadWhileWritten implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_READ;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postWrite(1, scene.local.slice(0, 128), scene.remote.remote()); // earlier
            one.postRead(2, scene.remote.remote().slice(0, 128), scene.local.slice(256, 128)); // here
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postWrite(1, scene.local.slice(0, 128), scene.remote.remote());
            scene.take(scene.sent);
            one.postRead(2, scene.remote.remote().slice(0, 128), scene.local.slice(256, 128));
            scene.take(scene.sent);
        }
    }
}
