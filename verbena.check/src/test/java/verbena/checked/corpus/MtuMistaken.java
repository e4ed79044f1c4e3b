package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Mtu;
import verbena.verbs.QueuePairOptions;

/// The two ends are given different path MTUs.
final class MtuMistaken implements Program {
    @Override
    public Rule rule() {
        return Rule.MTU_MISMATCH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            other.connect(one.endpoint(), EndpointOptions.defaults().withMtu(Mtu.ofBytes(512))); // earlier
            one.connect(other.endpoint(), EndpointOptions.defaults().withMtu(Mtu.ofBytes(1_024))); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            other.connect(one.endpoint(), EndpointOptions.defaults().withMtu(Mtu.ofBytes(512)));
            one.connect(other.endpoint(), EndpointOptions.defaults().withMtu(Mtu.ofBytes(512)));
        }
    }
}
