package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AddressVector;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// The sender of a datagram takes its own Q_Key for that of the receiver.
final class QkeyMistaken implements Program {
    @Override
    public Rule rule() {
        return Rule.QKEY_MISMATCH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var sender = open(scene, 7);
                var receiver = open(scene, 11);
                var path = scene.domain.createAddressHandle(path(scene))) {
            receiver.postReceive(1, scene.remote.slice(0, 40 + 32));
            try (var batch = sender.sendBatch()) {
                batch.send(2).sge(scene.local, 0, 32).signaled();
                batch.to(path, receiver.qpn(), 7);
                batch.submit(); // here
            }
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var sender = open(scene, 7);
                var receiver = open(scene, 11);
                var path = scene.domain.createAddressHandle(path(scene))) {
            receiver.postReceive(1, scene.remote.slice(0, 40 + 32));
            try (var batch = sender.sendBatch()) {
                batch.send(2).sge(scene.local, 0, 32).signaled();
                batch.to(path, receiver.qpn(), 11);
                batch.submit();
            }
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    private static AddressVector path(TwoEnds scene) {
        return AddressVector.to(scene.device.gid(1, 0).gid(), 0);
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
