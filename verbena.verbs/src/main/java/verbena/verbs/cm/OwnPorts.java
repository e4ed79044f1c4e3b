package verbena.verbs.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.Acceptor;
import verbena.verbs.spi.ConnectionService.BoundPort;
import verbena.verbs.spi.ConnectionService.CallerPort;

/// The devices of one [ConnectionId], and the ports that it has there: one device, or several for a wildcard
/// address. Under the identifier's lock.
final class OwnPorts {
    private static final int EPHEMERAL_MIN = 0xC000;
    private static final int PORTS = 0x1_0000;
    /// The number of attempts to find a port that is free at all addresses.
    private static final int ATTEMPTS = 16;

    private final PortSpace space;
    private final Consumer<String> onDeviceFailed;
    private final List<LocalDevices.Lease> leases = new ArrayList<>();
    private final List<ConnectionService.Watch> watches = new ArrayList<>();
    private final List<BoundPort> ports = new ArrayList<>();
    /// The port from which a peer is asked; null when the program has bound one, or the device gives none.
    private @Nullable CallerPort caller;

    /// @param onDeviceFailed is told why a device has failed; any thread
    OwnPorts(PortSpace space, Consumer<String> onDeviceFailed) {
        this.space = space;
        this.onDeviceFailed = onDeviceFailed;
    }

    /// Takes an address and port of this host, or a port at each address that a wildcard address stands for and
    /// that a device can have.
    ///
    /// @return the port
    int bind(DeviceChoice devices, InetAddress at, int wanted, boolean oneFamily) {
        boolean isAnywhere = at.isAnyLocalAddress();
        List<OwnAddress> all = isAnywhere
                ? LocalDevices.all(devices.device(), at, oneFamily).stream()
                        .map(OwnAddress::of)
                        .toList()
                : List.of(OwnAddress.of(at));
        if (all.isEmpty() && !oneFamily) {
            throw new ConnectionException(
                    ConnectionException.Reason.ADDRESS,
                    "bind: this host has no address that is up, not even loopback's: set an interface up first");
        }
        boolean done = false;
        try {
            ConnectionException refused = null;
            for (OwnAddress each : all) {
                Optional<LocalDevices.Lease> within =
                        isNearest(devices) ? LocalDevices.within(devices, each.gid()) : Optional.empty();
                try {
                    hold(LocalDevices.at(devices, each));
                } catch (ConnectionException e) {
                    // Another program has it. Only this host reaches loopback, by the memory too.
                    if (within.isEmpty() || !each.gid().address().isLoopbackAddress()) {
                        refused = e;
                    }
                }
                within.ifPresent(this::hold);
            }
            if (refused != null && (!isAnywhere || leases.isEmpty())) {
                throw refused;
            }
            int port = bindAll(wanted);
            done = true;
            // Without an address none is taken.
            return port != 0 ? port : ThreadLocalRandom.current().nextInt(EPHEMERAL_MIN, PORTS);
        } finally {
            if (!done) {
                letGo();
            }
        }
    }

    /// Binds the same port at all addresses. What is free at the first one may be taken at another, so any port is
    /// tried more than once.
    private int bindAll(int wanted) {
        for (int attempt = 1; ; attempt++) {
            try {
                int port = wanted;
                for (LocalDevices.Lease lease : leases) {
                    port = bind(lease, port);
                }
                return port;
            } catch (ConnectionException e) {
                if (wanted != 0 || ports.isEmpty() || attempt == ATTEMPTS) {
                    throw e;
                }
                closePorts();
            }
        }
    }

    private int bind(LocalDevices.Lease lease, int port) {
        BoundPort bound = lease.service().bind(space, lease.local(), port);
        ports.add(bound);
        return bound.port();
    }

    /// Takes the device that reaches a peer, from an own address and port of choice, or from any port.
    ///
    /// @return own address and port; port 0 when connecting determines it
    InetSocketAddress reach(DeviceChoice devices, Optional<InetSocketAddress> source, InetSocketAddress peer) {
        Optional<OwnAddress> wanted = source.map(from -> resolved("source", from))
                .filter(from -> !from.isAnyLocalAddress())
                .map(OwnAddress::of)
                .map(from -> from.towards(peer.getAddress()));
        OwnAddress from = wanted.orElseGet(() -> LocalDevices.towards(devices.device(), peer.getAddress()));
        LocalDevices.Lease lease = within(devices, from.gid(), peer)
                .orElseGet(() -> wanted.isPresent()
                        ? LocalDevices.at(devices, from)
                        : LocalDevices.reaching(devices, from, peer.getAddress()));
        hold(lease);
        int port = source.map(InetSocketAddress::getPort).orElse(0);
        if (port != 0) {
            port = bind(lease, port);
        } else {
            caller = lease.service().bindCaller(space, lease.local()).orElse(null);
            port = caller == null ? 0 : caller.port();
        }
        return new InetSocketAddress(lease.address(lease.local()), port);
    }

    /// Returns the device within this host, when the channel wants it and the peer is there.
    private Optional<LocalDevices.Lease> within(DeviceChoice devices, Gid from, InetSocketAddress peer) {
        return isNearest(devices) ? LocalDevices.within(devices, space, from, peer) : Optional.empty();
    }

    /// Datagrams need not have a peer, and so one device.
    private boolean isNearest(DeviceChoice devices) {
        return devices.isNearest() && !space.isDatagram();
    }

    /// Keeps only the port that reaches the peer, when there are ports at all addresses.
    InetSocketAddress narrow(DeviceChoice devices, InetSocketAddress bound, InetSocketAddress peer) {
        boolean isAnywhere = bound.getAddress().isAnyLocalAddress();
        if (!isAnywhere && leases.size() == 1) {
            return bound;
        }
        Gid from = isAnywhere
                ? LocalDevices.towards(devices.device(), peer.getAddress()).gid()
                : Gid.of(bound.getAddress());
        boolean isWithin = leases.stream()
                        .anyMatch(lease -> lease.isOfHost() && lease.local().equals(from))
                && LocalDevices.isServedWithin(space, from, peer);
        for (int i = leases.size() - 1; i >= 0; i--) {
            if (!leases.get(i).local().equals(from) || leases.get(i).isOfHost() != isWithin) {
                ports.remove(i).close();
                watches.remove(i).close();
                leases.remove(i).close();
            }
        }
        return new InetSocketAddress(from.address(), bound.getPort());
    }

    /// Returns the address of a host whose name was resolved.
    static InetAddress resolved(String name, InetSocketAddress address) {
        InetAddress at = address.getAddress();
        if (at == null) {
            throw new IllegalArgumentException(
                    name + ": \"" + address.getHostString() + "\" is no known host, or was not"
                            + " resolved: make the address by new InetSocketAddress(host, port)");
        }
        return at;
    }

    /// Returns the peer that is meant: a wildcard address is the own address, or one of this host, of loopback
    /// first.
    static InetSocketAddress meant(DeviceChoice devices, InetSocketAddress peer, Optional<InetSocketAddress> own) {
        InetAddress at = resolved("destination", peer);
        if (!at.isAnyLocalAddress()) {
            return peer;
        }
        InetAddress host = own.map(InetSocketAddress::getAddress)
                .filter(from -> !from.isAnyLocalAddress())
                .or(() -> LocalDevices.all(devices.device(), at, false).stream()
                        .map(Gid::address)
                        .min(Comparator.comparing((InetAddress each) -> !each.isLoopbackAddress())
                                .thenComparing(each -> each.getClass() != at.getClass())))
                .orElseThrow(() -> new ConnectionException(
                        ConnectionException.Reason.ADDRESS, "this host has no address that is up"));
        return new InetSocketAddress(host, peer.getPort());
    }

    /// Uses this device too. From now on its failure is told.
    void hold(LocalDevices.Lease lease) {
        leases.add(lease);
        watches.add(lease.service().watch(onDeviceFailed));
    }

    /// Makes all ports take requests.
    void listen(int backlog, Secret secret, Function<LocalDevices.Lease, Acceptor> acceptors) {
        for (int i = 0; i < ports.size(); i++) {
            ports.get(i).listen(backlog, secret, acceptors.apply(leases.get(i)));
        }
    }

    /// Returns a share of each device, at one of its addresses; the device within this host is the first.
    List<LocalDevices.Lease> leases() {
        var ofDevices = new LinkedHashMap<Context, LocalDevices.Lease>();
        leases.stream()
                .sorted(Comparator.comparing(lease -> !lease.isOfHost()))
                .forEach(lease -> ofDevices.putIfAbsent(lease.context(), lease));
        return List.copyOf(ofDevices.values());
    }

    /// Returns how many devices there are.
    int devices() {
        return leases.size();
    }

    /// Returns the only device.
    LocalDevices.Lease lease() {
        return leases.getFirst();
    }

    Context context() {
        return lease().context();
    }

    /// Returns the service of the device within this host, or of the first device; null when there is none.
    @Nullable
    ConnectionService service() {
        for (LocalDevices.Lease lease : leases) {
            if (lease.isOfHost()) {
                return lease.service();
            }
        }
        return leases.isEmpty() ? null : lease().service();
    }

    /// Gives the ports back: from now on no peer can ask.
    void closePorts() {
        ports.forEach(BoundPort::close);
        ports.clear();
        if (caller != null) {
            caller.close();
            caller = null;
        }
    }

    void letGo() {
        watches.forEach(ConnectionService.Watch::close);
        watches.clear();
        closePorts();
        leases.forEach(LocalDevices.Lease::close);
        leases.clear();
    }
}
