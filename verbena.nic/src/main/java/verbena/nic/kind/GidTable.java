package verbena.nic.kind;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import verbena.nic.link.Carrier;
import verbena.transport.queue.Path;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.StaticRate;
import verbena.wire.ib.NativePacket;
import verbena.wire.roce.RoceV2;

/// The addresses of a device, and the paths from them to peers. Any thread.
public final class GidTable {
    /// Any port will do, because a route does not depend on it.
    private static final int ANY_PORT = 4791;

    private final String device;
    private final Carrier carrier;
    /// The addresses that could be used when the network last changed.
    private volatile List<GidEntry> live;

    /// @param device how messages name it
    /// @param carrier the carrier whose addresses they are
    public GidTable(String device, Carrier carrier) {
        this.device = device;
        this.carrier = carrier;
        this.live = carrier.gids();
    }

    public List<GidEntry> entries() {
        return carrier.gids();
    }

    /// Returns whether an address could be used when the network last changed.
    public boolean isLive() {
        return !live.isEmpty();
    }

    /// Updates the live addresses after a change of the host's network; returns what the change means for the
    /// port, or empty.
    public synchronized Optional<AsyncEvent.Type> onNetworkChanged() {
        List<GidEntry> now = carrier.liveGids();
        List<GidEntry> before = live;
        if (now.equals(before)) {
            return Optional.empty();
        }
        live = now;
        if (now.isEmpty()) {
            return Optional.of(AsyncEvent.Type.PORT_ERR);
        }
        return Optional.of(before.isEmpty() ? AsyncEvent.Type.PORT_ACTIVE : AsyncEvent.Type.GID_CHANGE);
    }

    /// Returns the entry from which a peer can be reached.
    ///
    /// @throws DeviceException when there is none
    public GidEntry towards(Gid peer) {
        List<GidEntry> fitting = entries().stream()
                .filter(own -> own.gid().isIpv4() == peer.isIpv4())
                .filter(own -> own.gid().isLinkLocal() == peer.isLinkLocal())
                .toList();
        if (fitting.isEmpty()) {
            throw new DeviceException("gid: " + device + " has no address to reach " + peer + " from; it has "
                    + entries().stream().map(own -> own.gid().toString()).toList());
        }
        if (fitting.size() == 1) {
            return fitting.getFirst();
        }
        Gid routed = isOwn(fitting, peer) ? peer : routedSource(peer); // the system's routes to own addresses are so
        return fitting.stream()
                .filter(own -> own.gid().equals(routed))
                .findFirst()
                .orElse(fitting.getFirst());
    }

    private static boolean isOwn(List<GidEntry> entries, Gid gid) {
        for (GidEntry entry : entries) {
            if (entry.gid().equals(gid)) {
                return true;
            }
        }
        return false;
    }

    /// Returns the address from which the host's routes would send; `peer` itself when that is unknown. Sends
    /// nothing.
    private static Gid routedSource(Gid peer) {
        try (var probe = DatagramChannel.open()) {
            probe.connect(new InetSocketAddress(peer.address(), ANY_PORT));
            return probe.getLocalAddress() instanceof InetSocketAddress own ? Gid.of(own.getAddress()) : peer;
        } catch (IOException e) {
            return peer;
        }
    }

    /// Returns the path that an address vector describes, if the ends of the path fit.
    ///
    /// @param verb the beginning of the message
    /// @param own the entry that the vector names
    /// @param bitsPerSecond what a static rate means ([DeviceKind#bitsPerSecond])
    public static Path path(String verb, GidEntry own, AddressVector to, ToLongFunction<StaticRate> bitsPerSecond) {
        if (to.port() != 1) {
            throw new InvalidAttributesException(verb + ": port: 1 is the only one, got " + to.port());
        }
        if (own.gid().isIpv4() != to.destination().isIpv4()) {
            throw new InvalidAttributesException(verb + ": own GID " + own.index() + " is " + own.gid()
                    + " and the peer's is " + to.destination() + ": one is IPv4, the other is not");
        }
        if (own.type() == GidType.IB) {
            return pathByLid(verb, own, to, bitsPerSecond.applyAsLong(to.staticRate()));
        }
        return new Path(
                own.gid().high(),
                own.gid().low(),
                to.destination().high(),
                to.destination().low(),
                to.trafficClass(),
                to.hopLimit(),
                to.flowLabel() == 0 ? 0 : RoceV2.udpSourcePort(to.flowLabel()),
                to.serviceLevel(),
                0,
                0,
                bitsPerSecond.applyAsLong(to.staticRate()));
    }

    /// Returns the path on InfiniBand, which goes by LID. Where the address vector has no GID but `::`, or a LID in
    /// the form of a GID (`::7`), packets have no GRH.
    private static Path pathByLid(String verb, GidEntry own, AddressVector to, long bitsPerSecond) {
        Gid gid = to.destination();
        boolean isLocal = NativePacket.isByLid(gid.high(), gid.low());
        int lid = to.destinationLid() == 0 && isLocal ? (int) gid.low() : to.destinationLid();
        if (lid == 0 && !gid.isMulticast()) { // the link knows the LIDs of groups
            throw new InvalidAttributesException(verb + ": destinationLid: InfiniBand needs the LID of " + gid
                    + "; only connections find it by themselves");
        }
        return new Path(
                own.gid().high(),
                own.gid().low(),
                isLocal ? 0 : gid.high(),
                isLocal ? lid : gid.low(),
                to.trafficClass(),
                to.hopLimit(),
                0,
                to.serviceLevel(),
                lid,
                to.sourcePathBits(),
                bitsPerSecond);
    }
}
