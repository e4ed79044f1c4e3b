package verbena.sim.model;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Mtu;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.RnrTimer;

/// The steps of a [RandomWalk] that connect queue pairs and change their states.
final class WalkStates extends WalkSteps {
    private static final int PSN_MASK = 0xFF_FFFF;
    /// PSNs of one connection are never near those of another, so that no packet of one fits the other.
    private static final int PSN_BLOCK = 1 << 16;

    private static final Set<Access> EVERYTHING =
            EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.FLUSH_GLOBAL);

    private int connections;

    WalkStates(WalkState walk) {
        super(walk);
    }

    private int freshPsn() {
        int block = connections++ * PSN_BLOCK; // of the first, half begin shortly before the wrap
        return (chance(50) ? -1 - walk.random.nextInt(64) + block : block + walk.random.nextInt(1_000)) & PSN_MASK;
    }

    /// Two queue pairs, from wherever they are, to RTS or RTR; datagrams need no peer.
    void connect() {
        pick(place().queuePairs).filter(one -> !isBusy(one)).ifPresent(one -> {
            if (one.type() == QpType.UD) {
                reset(one);
                walk.lockstep.modify(one, toInit(one));
                walk.lockstep.modify(one, toRtr(one, one, false, Mtu.MTU_256, 0));
                if (!chance(5)) {
                    walk.lockstep.modify(one, toRts(one, freshPsn()));
                }
                return;
            }
            var fitting = place().queuePairs.stream()
                    .filter(other -> areOfOneKind(one.type(), other.type()) || chance(2))
                    .toList();
            pick(fitting).filter(other -> !isBusy(other)).ifPresent(other -> connect(one, other));
        });
    }

    /// An extended connection has different ends.
    private static boolean areOfOneKind(QpType one, QpType other) {
        return one.isXrc() ? other.isXrc() && one != other : one == other;
    }

    void connect(ModelQueuePair one, ModelQueuePair other) {
        boolean ipv6 = chance(30);
        if (chance(20) && !one.isClosed() && !other.isClosed()) {
            connectAtOnce(one, other, ipv6 ? 1 : 0);
            return;
        }
        Mtu mtu = mtu();
        int psnOfOne = freshPsn();
        int psnOfOther = one == other ? psnOfOne : freshPsn();
        connect(one, other, ipv6, mtu, psnOfOne, psnOfOther);
        if (one != other) {
            Mtu mtuOfOther = chance(5) ? mtu() : mtu;
            connect(other, one, ipv6, mtuOfOther, psnOfOther, psnOfOne);
        }
    }

    private void connectAtOnce(ModelQueuePair one, ModelQueuePair other, int gid) {
        for (ModelQueuePair end : List.of(one, other)) {
            if (!chance(5)) {
                reset(end);
            }
            if (end.type() != QpType.UD && end.state() == QpState.RESET && chance(20)) {
                walk.lockstep.modify(end, toInit(end));
            }
        }
        var choices = EndpointOptions.defaults()
                .withAccess(chance(80) ? EVERYTHING : access())
                .withRetries(
                        new AckTimeout(1 + walk.random.nextInt(10)),
                        walk.faulty ? 7 : walk.random.nextInt(8),
                        chance(70) ? 7 : 3)
                .withMinRnrTimer(rnrTimer())
                .withMaxReadAtomic(readsAsked())
                .withTrafficClass(walk.random.nextInt(256));
        walk.lockstep.connect(one, other, gid, walk.shared || chance(60) ? choices.withMtu(mtu()) : choices);
    }

    /// Over shared memory always the same: where two ends differ, packets are refused, and what needs no packet is
    /// not.
    private Mtu mtu() {
        return walk.shared ? Mtu.MTU_1024 : Mtu.values()[walk.random.nextInt(Mtu.values().length)];
    }

    /// Connected queue pairs are left in peace, mostly.
    private boolean isBusy(ModelQueuePair one) {
        return (one.state() == QpState.RTS || one.state() == QpState.SQD) && !chance(5);
    }

    private void connect(ModelQueuePair own, ModelQueuePair peer, boolean ipv6, Mtu mtu, int psn, int peerPsn) {
        reset(own);
        if (!own.isClosed() && !peer.isClosed()) {
            walk.lockstep.modify(own, toInit(own));
            walk.lockstep.modify(own, toRtr(own, peer, ipv6, mtu, peerPsn));
            if (!chance(5)) {
                walk.lockstep.modify(own, toRts(own, psn));
            }
        }
    }

    private void reset(ModelQueuePair own) {
        if (own.state() != QpState.RESET) {
            walk.lockstep.modify(own, new QpModification().withState(QpState.RESET));
            walk.lockstep.settle();
        }
    }

    private QpModification toInit(ModelQueuePair own) {
        var change = new QpModification().withState(QpState.INIT).withPort(1).withPkeyIndex(0);
        return own.type() == QpType.UD
                ? change.withQkey(qkey())
                : change.withAccess(chance(80) ? EVERYTHING : access());
    }

    private QpModification toRtr(ModelQueuePair own, ModelQueuePair peer, boolean ipv6, Mtu mtu, int peerPsn) {
        var change = new QpModification().withState(QpState.RTR);
        if (own.type() == QpType.UD) {
            return change;
        }
        int gid = ipv6 ? 1 : 0;
        change = change.withPath(AddressVector.to(peer.device().gids().get(gid), gid))
                .withPathMtu(mtu)
                .withDestinationQpn(peer.qpn())
                .withRqPsn(peerPsn);
        return own.type() == QpType.UC || own.type() == QpType.XRC_INITIATOR
                ? change
                : change.withMaxDestinationReadAtomic(readsServed()).withMinRnrTimer(rnrTimer());
    }

    private QpModification toRts(ModelQueuePair own, int psn) {
        var change = new QpModification().withState(QpState.RTS).withSqPsn(psn);
        if (!own.isReliable()) {
            return change;
        }
        change = change.withAckTimeout(new AckTimeout(1 + walk.random.nextInt(10)));
        return own.type() == QpType.XRC_TARGET
                ? change
                : change.withRetryCount(walk.faulty ? 7 : walk.random.nextInt(8))
                        .withRnrRetry(chance(70) ? 7 : walk.random.nextInt(7))
                        .withMaxReadAtomic(readsAsked());
    }

    /// Around the time that [Lockstep] lets pass for queue pairs that wait without end: 1.3 to 2.6 ms, or 5 to 10
    /// ms.
    private RnrTimer rnrTimer() {
        return new RnrTimer((walk.faulty ? 18 : 14) + walk.random.nextInt(3));
    }

    /// What is asked for at once is never more than what is served, unless nothing is.
    private int readsAsked() {
        return chance(10) ? 0 : chance(50) ? 1 : 4;
    }

    private int readsServed() {
        return chance(5) ? 0 : chance(50) ? 4 : 16;
    }

    /// Legal or not: a step that is right but for something, or some attributes by chance.
    void modify() {
        pick(place().queuePairs)
                .ifPresent(own -> pick(place().queuePairs).ifPresent(peer -> {
                    QpModification change = switch (walk.random.nextInt(7)) {
                        case 0 -> toInit(own);
                        case 1 -> toRtr(own, peer, chance(50), Mtu.MTU_1024, freshPsn());
                        case 2 -> toRts(own, freshPsn());
                        case 3 -> new QpModification().withState(QpState.SQD).withSqdNotify(chance(70));
                        case 4 -> new QpModification().withState(QpState.RTS);
                        case 5 -> new QpModification();
                        default -> new QpModification().withState(QpState.values()[walk.random.nextInt(7)]);
                    };
                    for (int i = walk.random.nextInt(3); i > 0; i--) {
                        change = disturbed(change, peer);
                    }
                    QpState to = change.get(QpAttribute.STATE, own.state());
                    if (to == QpState.SQD && own.state() == QpState.RTS && own.unfinished() > 1) {
                        return; // which of several requests have begun is the device's choice
                    }
                    walk.lockstep.modify(own, change);
                }));
    }

    void changeAccess(ModelQueuePair own) {
        walk.lockstep.modify(own, new QpModification().withAccess(chance(50) ? EVERYTHING : access()));
    }

    private QpModification disturbed(QpModification change, ModelQueuePair peer) {
        int wild = walk.random.nextInt(4) == 0 ? walk.random.nextInt() : walk.random.nextInt(9);
        return switch (walk.random.nextInt(16)) {
            case 0 -> change.withState(QpState.values()[walk.random.nextInt(7)]);
            case 1 -> change.withCurrentState(QpState.values()[walk.random.nextInt(7)]);
            case 2 -> change.withSqdNotify(chance(50));
            case 3 -> change.withAccess(access());
            case 4 -> change.withPkeyIndex(walk.random.nextInt(2));
            case 5 -> change.withPort(walk.random.nextInt(3));
            case 6 -> change.withQkey(wild);
            case 7 -> change.withPath(wildWay(placeOf(peer)));
            case 8 -> change.withPathMtu(mtu());
            case 9 -> change.withAckTimeout(new AckTimeout(1 + walk.random.nextInt(10)));
            case 10 -> change.withRetryCount(walk.faulty ? 7 : wild);
            case 11 -> change.withRnrRetry(wild);
            case 12 -> change.withMaxReadAtomic(chance(80) ? readsAsked() : 129);
            case 13 -> change.withMaxDestinationReadAtomic(chance(80) ? readsServed() : -1);
            case 14 -> change.withMinRnrTimer(rnrTimer());
            default -> change.withDestinationQpn(wild);
        };
    }

    /// To ERR or RESET.
    void leave() {
        pick(place().queuePairs)
                .ifPresent(own -> walk.lockstep.modify(
                        own, new QpModification().withState(chance(60) ? QpState.ERR : QpState.RESET)));
    }

    void query() {
        pick(place().queuePairs).ifPresent(walk.lockstep::query);
    }
}
