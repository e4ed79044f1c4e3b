package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Endpoint;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// After a failure one end is reset and connected again, and its peer is left as it was.
final class OneEndReset implements Program {
    @Override
    public Rule rule() {
        return Rule.PSN_MISMATCH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint()); // earlier
            var end = other.endpoint();
            one.modify(new Transition.ToReset());
            one.connect(new Endpoint(end.gid(), end.gidType(), end.qpn(), end.psn() + 5, end.mtu())); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            one.modify(new Transition.ToReset());
            other.modify(new Transition.ToReset());
            one.connect(other.endpoint());
            other.connect(one.endpoint());
        }
    }
}
