package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A receive for a datagram of 32 bytes has 32 bytes.
final class DatagramReceiveShort implements Program {
    @Override
    public Rule rule() {
        return Rule.UD_SHORT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var datagrams = scene.domain.createQueuePair(QueuePairOptions.ud(scene.sent))) { // earlier
            datagrams.modify(new Transition.ToInitUd(1, 0, 7));
            datagrams.postReceive(1, scene.local.slice(0, 32)); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var datagrams = scene.domain.createQueuePair(QueuePairOptions.ud(scene.sent))) {
            datagrams.modify(new Transition.ToInitUd(1, 0, 7));
            datagrams.postReceive(1, scene.local.slice(0, 40 + 32));
        }
    }
}
