package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Endpoint;
import verbena.verbs.QueuePairOptions;

/// One end is given another PSN than its peer begins with.
final class PsnMistaken implements Program {
    @Override
    public Rule rule() {
        return Rule.PSN_MISMATCH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            var end = one.endpoint();
            other.connect(new Endpoint(end.gid(), end.gidType(), end.qpn(), end.psn() ^ 0x100, end.mtu())); // earlier
            one.connect(other.endpoint()); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            other.connect(one.endpoint());
            one.connect(other.endpoint());
        }
    }
}
