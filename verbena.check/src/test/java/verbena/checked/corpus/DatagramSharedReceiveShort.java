package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AddressVector;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// Datagrams of 64 bytes arrive by a shared queue, whose receives have 64.
final class DatagramSharedReceiveShort implements Program {
    @Override
    public Rule rule() {
        return Rule.UD_SHORT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var sender = open(scene, QueuePairOptions.ud(scene.sent));
                var receiver = open(scene, QueuePairOptions.ud(scene.arrived).withSharedReceiveQueue(shared));
                var path = scene.domain.createAddressHandle(
                        AddressVector.to(scene.device.gid(1, 0).gid(), 0))) {
            shared.postReceive(1, scene.remote.slice(0, 64)); // earlier
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
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var sender = open(scene, QueuePairOptions.ud(scene.sent));
                var receiver = open(scene, QueuePairOptions.ud(scene.arrived).withSharedReceiveQueue(shared));
                var path = scene.domain.createAddressHandle(
                        AddressVector.to(scene.device.gid(1, 0).gid(), 0))) {
            shared.postReceive(1, scene.remote.slice(0, 40 + 64));
            try (var batch = sender.sendBatch()) {
                batch.send(2).sge(scene.local, 0, 64).signaled();
                batch.to(path, receiver.qpn(), 7);
                batch.submit();
            }
            scene.take(scene.sent);
        }
    }

    private static QueuePair open(TwoEnds scene, QueuePairOptions options) {
        QueuePair datagrams = scene.domain.createQueuePair(options);
        datagrams.modify(new Transition.ToInitUd(1, 0, 7));
        datagrams.modify(new Transition.ToRtrUd());
        datagrams.modify(new Transition.ToRtsUnreliable(0));
        return datagrams;
    }
}
