package verbena.provider;

import java.util.List;
import java.util.function.IntSupplier;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.Transition;
import verbena.verbs.UnsupportedException;

/// The connector of a queue pair to the peer whose [Endpoint] it is given, by the state changes that any program
/// could make. It keeps the values that this end has given to the peer. Any thread.
public final class PeerConnector {
    private static final int PORT = 1;
    private final QueuePair qp;
    private final Context context;
    private final IntSupplier random;
    private volatile int initialPsn;
    /// The GID that [#endpoint] gave out last; -1 before.
    private volatile int endpointGid = -1;

    /// @param qp an open one
    /// @param random numbers that a peer cannot guess
    public PeerConnector(QueuePair qp, Context context, IntSupplier random) {
        this.qp = qp;
        this.context = context;
        this.random = random;
        this.initialPsn = random.getAsInt() & Endpoint.PSN_MASK;
    }

    /// Prepares the next connection, after a reset of the queue pair.
    public void reset() {
        initialPsn = random.getAsInt() & Endpoint.PSN_MASK;
        endpointGid = -1;
    }

    /// Returns the endpoint that the peer has to know.
    public Endpoint endpoint(int gidIndex) {
        require("endpoint");
        GidEntry own = context.gid(PORT, gidIndex);
        endpointGid = gidIndex;
        return new Endpoint(
                own.gid(),
                own.type(),
                qp.qpn(),
                initialPsn,
                activeMtu(),
                context.port(PORT).lids().lid());
    }

    /// Brings the queue pair to RTS.
    public void connect(Endpoint remote, EndpointOptions choices) {
        require("connect");
        if (qp.type() == QpType.UD) {
            throw new InvalidStateException("connect: " + qp + " is of type UD, which has no peer: modify it to"
                    + " INIT, RTR and RTS, and name the receiver of each datagram with an address handle");
        }
        if (qp.type() == QpType.RAW_PACKET) {
            throw new InvalidStateException(
                    "connect: " + qp + " is of type RAW_PACKET, which has no peer: modify it to INIT, RTR and RTS");
        }
        QpState state = qp.state();
        if (state != QpState.RESET && state != QpState.INIT) {
            throw new InvalidStateException("connect: " + qp + " is in " + state + ", not in RESET or INIT");
        }
        GidEntry own = ownGid(remote);
        Mtu mtu = mtu(remote, choices);
        if (choices.maxReadAtomic() < 0) {
            throw new InvalidAttributesException(
                    "connect: maxReadAtomic: not negative, got " + choices.maxReadAtomic());
        }
        if (state == QpState.RESET) {
            qp.modify(new Transition.ToInit(choices.access()));
        } else {
            qp.modify(new QpModification().withAccess(choices.access()));
        }
        var path = AddressVector.to(remote.gid(), own.index())
                .withTrafficClass(choices.trafficClass())
                .withDestinationLid(remote.lid());
        toRtr(remote, choices, path, mtu);
        toRts(choices);
    }

    private void toRtr(Endpoint remote, EndpointOptions choices, AddressVector path, Mtu mtu) {
        switch (qp.type()) {
            case UC, XRC_INITIATOR -> qp.modify(new Transition.ToRtrUc(path, mtu, remote.qpn(), remote.psn()));
            case RC, XRC_TARGET -> {
                int served = Math.min(
                        choices.maxReadAtomic(), attributes().transport().maxQpReadAtomic());
                qp.modify(new Transition.ToRtr(path, mtu, remote.qpn(), remote.psn(), served, choices.minRnrTimer()));
            }
            case UD, RAW_PACKET -> throw new AssertionError("has no peer");
        }
    }

    private void toRts(EndpointOptions choices) {
        switch (qp.type()) {
            case UC -> qp.modify(new Transition.ToRtsUnreliable(initialPsn));
            case XRC_TARGET ->
                qp.modify(new QpModification()
                        .withState(QpState.RTS)
                        .withSqPsn(initialPsn)
                        .withAckTimeout(choices.ackTimeout()));
            case RC, XRC_INITIATOR -> {
                int asked = Math.min(
                        choices.maxReadAtomic(), attributes().transport().maxQpInitiatorReadAtomic());
                qp.modify(new Transition.ToRts(
                        initialPsn, choices.ackTimeout(), choices.retryCount(), choices.rnrRetry(), asked));
            }
            case UD, RAW_PACKET -> throw new AssertionError("has no peer");
        }
    }

    /// Returns this end's GID: the GID that was given to the peer if it suits the peer's GID, else another that
    /// does.
    private GidEntry ownGid(Endpoint remote) {
        Gid peer = remote.gid();
        List<GidEntry> table = context.gids(PORT);
        if (table.stream().noneMatch(own -> own.gid().isIpv4() == peer.isIpv4())) {
            throw new InvalidAttributesException("connect: the peer's address " + peer + " is "
                    + (peer.isIpv4() ? "IPv4" : "IPv6") + ", and "
                    + context.device().name() + " has only "
                    + table.stream().map(own -> own.gid().toString()).toList()
                    + "; use addresses of one family at both ends");
        }
        GidEntry own = givenOrSuitable(peer);
        if (own.type() != remote.gidType()) {
            throw new InvalidAttributesException("connect: this end's GID " + own.gid() + " is of type " + own.type()
                    + ", the peer's " + peer + " of type " + remote.gidType());
        }
        return own;
    }

    private GidEntry givenOrSuitable(Gid peer) {
        int given = endpointGid;
        if (given >= 0) {
            GidEntry own = context.gid(PORT, given);
            if (own.gid().isIpv4() == peer.isIpv4()) {
                return own;
            }
        }
        return context.gidFor(PORT, peer);
    }

    private Mtu mtu(Endpoint remote, EndpointOptions choices) {
        Mtu active = activeMtu();
        Mtu common = active.min(remote.mtu());
        Mtu mtu = choices.mtu().orElse(common);
        if (mtu.compareTo(common) > 0) {
            throw new InvalidAttributesException("connect: path MTU " + mtu + " is more than " + common
                    + ", the smaller of what this end (" + active + ") and the peer (" + remote.mtu() + ") can use");
        }
        return mtu;
    }

    private Mtu activeMtu() {
        return context.port(PORT).activeMtu();
    }

    private DeviceAttributes attributes() {
        return context.attributes();
    }

    private void require(String verb) {
        if (!attributes().has(Capability.ENDPOINTS)) {
            throw new UnsupportedException(
                    verb, Capability.ENDPOINTS, context.device().name());
        }
    }
}
