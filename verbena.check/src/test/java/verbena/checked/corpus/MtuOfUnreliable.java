package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Mtu;
import verbena.verbs.QueuePairOptions;

/// Two ends of an unreliable connection are given different path MTUs.
final class MtuOfUnreliable implements Program {
    @Override
    public Rule rule() {
        return Rule.MTU_MISMATCH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.uc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.uc(scene.arrived))) {
            other.connect(one.endpoint(), EndpointOptions.defaults().withMtu(Mtu.ofBytes(256))); // earlier
            one.connect(other.endpoint(), EndpointOptions.defaults().withMtu(Mtu.ofBytes(1_024))); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.uc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.uc(scene.arrived))) {
            other.connect(one.endpoint(), EndpointOptions.defaults().withMtu(Mtu.ofBytes(256)));
            one.connect(other.endpoint(), EndpointOptions.defaults().withMtu(Mtu.ofBytes(256)));
        }
    }
}
