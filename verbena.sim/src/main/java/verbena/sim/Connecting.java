package verbena.sim;

import verbena.verbs.AddressVector;
import verbena.verbs.Context;
import verbena.verbs.EndpointOptions;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.Transition;

/// A connector that brings both ends from RESET to RTS, with first PSNs of the caller's choice, as
/// [QueuePair#connect(verbena.verbs.Endpoint)] does with its own.
final class Connecting {
    private Connecting() {}

    static void connect(
            QueuePair one, int psnOfOne, QueuePair other, int psnOfOther, boolean ipv6, EndpointOptions options) {
        bringUp(one, psnOfOne, other, psnOfOther, ipv6, options);
        bringUp(other, psnOfOther, one, psnOfOne, ipv6, options);
    }

    private static void bringUp(
            QueuePair own, int ownPsn, QueuePair peer, int peerPsn, boolean ipv6, EndpointOptions options) {
        GidEntry from = gid(own, ipv6);
        AddressVector path = AddressVector.to(gid(peer, ipv6).gid(), from.index());
        Mtu mtu = options.mtu().orElse(context(own).port(1).activeMtu());
        own.modify(new Transition.ToInit(options.access()));
        if (own.type() == QpType.UC) {
            own.modify(new Transition.ToRtrUc(path, mtu, peer.qpn(), peerPsn));
            own.modify(new Transition.ToRtsUnreliable(ownPsn));
            return;
        }
        // An end of XRC is half of a reliable connection, and is not told of the other half.
        if (own.type() == QpType.XRC_INITIATOR) {
            own.modify(new Transition.ToRtrUc(path, mtu, peer.qpn(), peerPsn));
        } else {
            own.modify(new Transition.ToRtr(
                    path, mtu, peer.qpn(), peerPsn, options.maxReadAtomic(), options.minRnrTimer()));
        }
        if (own.type() == QpType.XRC_TARGET) {
            own.modify(new QpModification()
                    .withState(QpState.RTS)
                    .withSqPsn(ownPsn)
                    .withAckTimeout(options.ackTimeout()));
        } else {
            own.modify(new Transition.ToRts(
                    ownPsn, options.ackTimeout(), options.retryCount(), options.rnrRetry(), options.maxReadAtomic()));
        }
    }

    private static GidEntry gid(QueuePair qp, boolean ipv6) {
        return context(qp).gid(1, ipv6 ? 1 : 0);
    }

    private static Context context(QueuePair qp) {
        return qp.protectionDomain().context();
    }
}
