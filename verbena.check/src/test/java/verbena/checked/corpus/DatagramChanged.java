package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import verbena.check.Rule;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// The buffer of a datagram is filled anew before anything says that it has left; an answer would do.
final class DatagramChanged implements Program {
    private static final int QKEY = 7;

    @Override
    public Rule rule() {
        return Rule.SEND_CHANGED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var datagrams = open(scene);
                var self = scene.domain.createAddressHandle(path(scene))) {
            send(scene, datagrams, self);
            scene.local.segment().set(JAVA_BYTE, 5, (byte) 1);
            scene.take(scene.arrived); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var datagrams = open(scene);
                var self = scene.domain.createAddressHandle(path(scene))) {
            send(scene, datagrams, self);
            scene.take(scene.arrived);
            scene.local.segment().set(JAVA_BYTE, 5, (byte) 1);
            scene.take(scene.sent);
        }
    }

    private static AddressVector path(TwoEnds scene) {
        return AddressVector.to(scene.device.gid(1, 0).gid(), 0);
    }

    /// Opens a queue pair that sends to itself.
    private static QueuePair open(TwoEnds scene) {
        var datagrams =
                scene.domain.createQueuePair(QueuePairOptions.ud(scene.sent).withReceiveCq(scene.arrived));
        datagrams.modify(new Transition.ToInitUd(1, 0, QKEY));
        datagrams.modify(new Transition.ToRtrUd());
        datagrams.modify(new Transition.ToRtsUnreliable(0));
        datagrams.postReceive(1, scene.remote.slice(0, 40 + 32));
        return datagrams;
    }

    private static void send(TwoEnds scene, QueuePair datagrams, AddressHandle to) {
        try (var batch = datagrams.sendBatch()) {
            batch.send(2)
                    .sge(scene.local, 0, 32)
                    .to(to, datagrams.qpn(), QKEY)
                    .signaled()
                    .submit(); // earlier
        }
    }
}
