package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AddressVector;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A sender asks for its own Q_Key by the highest bit, and the receiver has another.
final class OwnQkeySent implements Program {
    /// The Q_Key that stands for the own one of the sender.
    private static final int OWN = 1 << 31;

    @Override
    public Rule rule() {
        return Rule.QKEY_MISMATCH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var sender = open(scene, 7);
                var receiver = open(scene, 11);
                var path = scene.domain.createAddressHandle(
                        AddressVector.to(scene.device.gid(1, 0).gid(), 0))) {
            receiver.postReceive(1, scene.remote.slice(0, 40 + 32));
            try (var batch = sender.sendBatch()) {
                batch.send(2).sge(scene.local, 0, 32).signaled();
                batch.to(path, receiver.qpn(), OWN);
                batch.submit(); // here
            }
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var sender = open(scene, 7);
                var receiver = open(scene, 7);
                var path = scene.domain.createAddressHandle(
                        AddressVector.to(scene.device.gid(1, 0).gid(), 0))) {
            receiver.postReceive(1, scene.remote.slice(0, 40 + 32));
            try (var batch = sender.sendBatch()) {
                batch.send(2).sge(scene.local, 0, 32).signaled();
                batch.to(path, receiver.qpn(), OWN);
                batch.submit();
            }
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    private static QueuePair open(TwoEnds scene, int qkey) {
        var datagrams =
                scene.domain.createQueuePair(QueuePairOptions.ud(scene.sent).withReceiveCq(scene.arrived));
        datagrams.modify(new Transition.ToInitUd(1, 0, qkey));
        datagrams.modify(new Transition.ToRtrUd());
        datagrams.modify(new Transition.ToRtsUnreliable(0)); // earlier
        return datagrams;
    }
}
