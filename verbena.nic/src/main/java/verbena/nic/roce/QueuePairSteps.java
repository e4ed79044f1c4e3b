package verbena.nic.roce;

import org.jspecify.annotations.Nullable;
import verbena.cm.CmRoute;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AlternatePath;
import verbena.verbs.Mtu;
import verbena.verbs.PathMigration;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.Transition;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.spi.ConnectionService.OwnSide;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.ib.NativePacket;
import verbena.wire.ib.Psn;

/// The steps of a connection's queue pair to RTR and RTS, which follow from the REQ and the REP (IBTA 12.9.7). When
/// both sides take the REQ's alternate path, RTR loads it and RTS arms it.
final class QueuePairSteps {
    private final ConnectionHost service;
    private final CmRoute route;
    private final int startingPsn;

    QueuePairSteps(ConnectionHost service, CmRoute route) {
        this.service = service;
        this.route = route;
        startingPsn = service.host().random().nextInt() & Psn.MASK;
    }

    /// Returns the first PSN that the peer has to send.
    int startingPsn() {
        return startingPsn;
    }

    /// Returns the modification for the side that has sent the REQ.
    QpModification active(QpState to, OwnSide own, Req req, Rep rep) {
        CmPath offered = req.alternate();
        boolean isTaken = req.hasAlternate() && rep.failover() == Rep.FAILOVER_ACCEPTED;
        AddressVector alternate = isTaken ? alternate(offered, offered.localLid(), offered.remoteLid()) : null;
        var peer = new Peer(rep.localQpn(), rep.startingPsn(), rep.rnrRetryCount(), rep.responderResources());
        return step(to, own, req, peer, alternate);
    }

    /// Returns the modification for the side that has received the REQ.
    QpModification passive(QpState to, OwnSide own, Req req) {
        var peer = new Peer(req.localQpn(), req.startingPsn(), req.rnrRetryCount(), req.responderResources());
        return step(to, own, req, peer, req.hasAlternate() ? offered(req.alternate()) : null);
    }

    /// Returns the REP with the answer to the REQ's alternate path; on the passive side.
    Rep judged(Rep rep, Req req) {
        if (!req.hasAlternate() || !service.ways().canMigrate()) {
            return rep;
        }
        return rep.withFailover(offered(req.alternate()) == null ? Rep.FAILOVER_REJECTED : Rep.FAILOVER_ACCEPTED);
    }

    /// Returns the offered alternate path, as seen from this side; null when it is not taken; on the passive side.
    /// It must lead to the address that asks, as the first path must, so that an attacker aims no packets of ours
    /// at a third party.
    @Nullable
    AddressVector offered(CmPath path) {
        boolean isOfPeer =
                isBetweenEnds(path) && path.localLid() >= 1 && path.localLid() < NativePacket.LID_MULTICAST_FIRST;
        return isOfPeer ? alternate(path, path.remoteLid(), path.localLid()) : null;
    }

    /// Returns whether a path leads from the address that asks to this one; on the passive side.
    boolean isBetweenEnds(CmPath path) {
        return path.localGidHigh() == route.remote().high()
                && path.localGidLow() == route.remote().low()
                && path.remoteGidHigh() == route.local().high()
                && path.remoteGidLow() == route.local().low();
    }

    /// Returns the path from this side; null when it does not begin at an own LID.
    @Nullable
    AddressVector alternate(CmPath path, int ownLid, int peerLid) {
        int pathBits = service.ways().pathBits(ownLid);
        return pathBits < 0
                ? null
                : service.path(route, path.trafficClass())
                        .withServiceLevel(path.serviceLevel())
                        .withStaticRate(service.ways().rate(path.packetRate()))
                        .withDestinationLid(peerLid)
                        .withSourcePathBits(pathBits);
    }

    /// The values that the peer sends about its end.
    ///
    /// @param psn the first that it expects
    /// @param rnrRetry how often to retry after its RNR NAKs
    /// @param reads how many it serves at once
    private record Peer(int qpn, int psn, int rnrRetry, int reads) {}

    private QpModification step(QpState to, OwnSide own, Req req, Peer peer, @Nullable AddressVector alternate) {
        ConnectionParameters parameters = own.parameters();
        boolean isUc = own.type() == QpType.UC;
        AddressVector path = service.path(route, req.primary().trafficClass())
                .withServiceLevel(req.primary().serviceLevel())
                .withStaticRate(service.ways().rate(req.primary().packetRate()));
        Mtu mtu = Mtu.ofCode(req.pathMtu());
        return switch (to) {
            case RTR -> {
                var step = isUc
                        ? new Transition.ToRtrUc(path, mtu, peer.qpn, startingPsn)
                        : new Transition.ToRtr(
                                path,
                                mtu,
                                peer.qpn,
                                startingPsn,
                                parameters.responderResources(),
                                parameters.minRnrTimer());
                QpModification change = step.modification();
                yield alternate == null ? change : change.withAlternatePath(loaded(alternate, req.alternate()));
            }
            case RTS -> {
                var step = isUc
                        ? new Transition.ToRtsUnreliable(peer.psn)
                        : new Transition.ToRts(
                                peer.psn,
                                new AckTimeout(req.primary().ackTimeout()),
                                req.retryCount(),
                                peer.rnrRetry,
                                Math.min(parameters.initiatorDepth(), peer.reads));
                QpModification change = step.modification();
                yield alternate == null ? change : change.withPathMigration(PathMigration.REARM);
            }
            case RESET, INIT, SQD, SQE, ERR -> throw new IllegalArgumentException("to: RTR or RTS, got " + to);
        };
    }

    static AlternatePath loaded(AddressVector path, CmPath offered) {
        return new AlternatePath(path, 0, new AckTimeout(offered.ackTimeout()));
    }
}
