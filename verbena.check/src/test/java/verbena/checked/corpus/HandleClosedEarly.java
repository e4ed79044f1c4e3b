package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.AddressVector;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// An address handle is closed as soon as the datagram to it was posted.
final class HandleClosedEarly implements Program {
    @Override
    public Rule rule() {
        return Rule.HANDLE_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var datagrams = open(scene)) {
            var path = scene.domain.createAddressHandle(
                    AddressVector.to(scene.device.gid(1, 0).gid(), 0));
            try (var batch = datagrams.sendBatch()) {
                batch.send(2)
                        .sge(scene.local, 0, 32)
                        .to(path, datagrams.qpn(), 7)
                        .signaled();
                batch.submit(); // earlier
            }
            path.close(); // here
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var datagrams = open(scene)) {
            var path = scene.domain.createAddressHandle(
                    AddressVector.to(scene.device.gid(1, 0).gid(), 0));
            try (var batch = datagrams.sendBatch()) {
                batch.send(2)
                        .sge(scene.local, 0, 32)
                        .to(path, datagrams.qpn(), 7)
                        .signaled();
                batch.submit();
            }
            scene.take(scene.sent);
            path.close();
            scene.take(scene.arrived);
        }
    }

    /// Opens a queue pair that sends to itself.
    private static QueuePair open(TwoEnds scene) {
        var datagrams =
                scene.domain.createQueuePair(QueuePairOptions.ud(scene.sent).withReceiveCq(scene.arrived));
        datagrams.modify(new Transition.ToInitUd(1, 0, 7));
        datagrams.modify(new Transition.ToRtrUd());
        datagrams.modify(new Transition.ToRtsUnreliable(0));
        datagrams.postReceive(1, scene.remote.slice(0, 40 + 32));
        return datagrams;
    }
}
