package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AddressVector;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A receive has 64 bytes for a datagram of 64, and so no room for the 40 bytes in front of it.
final class DatagramWithoutHeader implements Program {
    @Override
    public Rule rule() {
        return Rule.UD_SHORT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var sender = open(scene);
                var receiver = open(scene);
                var path = scene.domain.createAddressHandle(
                        AddressVector.to(scene.device.gid(1, 0).gid(), 0))) {
            receiver.postReceive(1, scene.remote.slice(0, 64)); // earlier
            try (var batch = sender.sendBatch()) {
                batch.send(2).sge(scene.local, 0, 64).signaled();
                batch.to(path, receiver.qpn(), 7);
                batch.submit(); // here
            }
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var sender = open(scene);
                var receiver = open(scene);
                var path = scene.domain.createAddressHandle(
                        AddressVector.to(scene.device.gid(1, 0).gid(), 0))) {
            receiver.postReceive(1, scene.remote.slice(0, 40 + 64));
            try (var batch = sender.sendBatch()) {
                batch.send(2).sge(scene.local, 0, 64).signaled();
                batch.to(path, receiver.qpn(), 7);
                batch.submit();
            }
            scene.take(scene.sent);
        }
    }

    private static QueuePair open(TwoEnds scene) {
        var datagrams =
                scene.domain.createQueuePair(QueuePairOptions.ud(scene.sent).withReceiveCq(scene.arrived));
        datagrams.modify(new Transition.ToInitUd(1, 0, 7));
        datagrams.modify(new Transition.ToRtrUd());
        datagrams.modify(new Transition.ToRtsUnreliable(0));
        return datagrams;
    }
}
