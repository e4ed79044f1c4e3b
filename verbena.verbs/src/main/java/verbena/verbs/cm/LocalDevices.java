package verbena.verbs.cm;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.InUseException;
import verbena.verbs.TransportType;
import verbena.verbs.VerbsException;
import verbena.verbs.internal.Providers;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.Provider;
import verbena.verbs.spi.Provider.Served;

/// The devices that connections of this process share: one for each local address that is in use, and one within
/// this host.
final class LocalDevices {
    /// A share of an open device. The device is closed some time after the last one.
    static final class Lease implements AutoCloseable {
        private final Context context;
        private final Gid local;
        private final boolean isOfHost;
        private final Supplier<Lease> again;
        private @Nullable ConnectionService service;
        private Runnable giveBack;

        private Lease(Context context, Gid local, boolean isOfHost, Supplier<Lease> again, Runnable giveBack) {
            this.context = context;
            this.local = local;
            this.isOfHost = isOfHost;
            this.again = again;
            this.giveBack = giveBack;
        }

        Context context() {
            return context;
        }

        /// Returns the device's connections. Known from the first call on, also when the device is closed.
        synchronized ConnectionService service() {
            ConnectionService there = service;
            if (there == null) {
                there = ConnectionService.of(context);
                service = there;
            }
            return there;
        }

        /// Returns the address that it is about.
        Gid local() {
            return local;
        }

        /// Returns whether the device reaches processes of this host only ([Provider#isOfHost()]).
        boolean isOfHost() {
            return isOfHost;
        }

        int gidIndex() {
            return entry().orElseThrow(() -> new ConnectionException(
                            ConnectionException.Reason.ADDRESS, context.device().name() + " has " + local + " no more"))
                    .index();
        }

        private Optional<GidEntry> entry() {
            return context.gids(1).stream()
                    .filter(entry -> entry.gid().equals(local))
                    .findFirst();
        }

        /// Returns the own address or a peer's; a link-local one at the interface of the device.
        InetAddress address(Gid of) {
            int scope = of.isLinkLocal() ? entry().map(GidEntry::interfaceIndex).orElse(0) : 0;
            return new OwnAddress(of, scope).address();
        }

        /// Takes another share of the same device.
        Lease again() {
            return again.get();
        }

        /// Gives the share back; idempotent.
        @Override
        public synchronized void close() {
            giveBack.run();
            giveBack = () -> {};
        }
    }

    /// A device that connections share.
    private static final class Shared {
        private final String key;
        private final Context context;
        private final boolean isOfHost;
        private int users;
        /// The time at which it is closed if it has no users then, by [System#nanoTime].
        private long closing;
        /// Whether a thread is going to close it.
        private boolean isWatched;

        private Shared(String key, Context context, boolean isOfHost) {
            this.key = key;
            this.context = context;
            this.isOfHost = isOfHost;
        }
    }

    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    /// UDP port of RoCE v2.
    private static final int ROCE_PORT = 4791;

    /// The time that a device without users stays open.
    private static final Duration LINGER = Duration.ofSeconds(1);
    /// The longest time until the next look at a device on which the program still has objects.
    private static final Duration LOOK_MAX = Duration.ofMinutes(1);

    /// Open devices by local address, or by name for a device of the host. Guarded by itself.
    private static final Map<String, Shared> OPEN = new HashMap<>();

    /// The loopback address that clients got because theirs was taken; in use when [#OPEN] has it. Guarded by
    /// [#OPEN].
    private static @Nullable String ownLoopback;

    private LocalDevices() {}

    /// Returns the device that a channel names for a local address, or the shared one.
    ///
    /// @throws ConnectionException when there is none
    static Lease at(DeviceChoice named, OwnAddress local) {
        try {
            if (named.device().isPresent()) {
                return atOnly(named.device().get(), local);
            }
            Optional<Context> own = named.at(local.gid()).filter(local::isOf);
            return own.isPresent() ? lent(own.get(), local.gid(), false) : shared(local);
        } catch (DeviceException e) {
            throw new ConnectionException(ConnectionException.Reason.ADDRESS, String.valueOf(e.getMessage()), e);
        }
    }

    private static Lease atOnly(Context only, OwnAddress local) {
        if (!local.isOf(only)) {
            throw new DeviceException(local + " is no address of "
                    + only.device().name() + "; it has "
                    + only.gids(1).stream().map(entry -> entry.gid().toString()).toList());
        }
        return lent(only, local.gid(), false);
    }

    /// Returns the device that has a local address, which the process shares.
    private static Lease shared(OwnAddress local) {
        synchronized (OPEN) {
            Shared shared = OPEN.get(local.toString());
            if (shared == null) {
                Device device = provided(local, provider -> provider.kind() + "@" + local);
                shared = share(local.toString(), device.open(), false);
            }
            return lease(shared, local.gid());
        }
    }

    /// Called with [#OPEN] locked.
    private static Shared share(String key, Context context, boolean isOfHost) {
        var shared = new Shared(key, context, isOfHost);
        OPEN.put(key, shared);
        return shared;
    }

    /// Takes another share of an open device, or the first one of a new device.
    private static Lease lease(Shared shared, Gid local) {
        synchronized (OPEN) {
            shared.users++;
        }
        return new Lease(shared.context, local, shared.isOfHost, () -> lease(shared, local), () -> giveBack(shared));
    }

    // ---- within this host

    /// Returns the device by which processes of this host reach an own address; empty when the host has none, and
    /// for a link-local address: the memory of the host knows no interfaces, and two may have the same one.
    static Optional<Lease> within(DeviceChoice named, Gid local) {
        return local.isLinkLocal()
                ? Optional.empty()
                : ofProgram(named, local).or(() -> hostProvider().flatMap(provider -> within(provider, local)));
    }

    /// Returns the same for a client, when the peer is on this host and has the port there too.
    ///
    /// @param from the own address towards the peer
    static Optional<Lease> within(DeviceChoice named, PortSpace space, Gid from, InetSocketAddress peer) {
        return isHere(from, peer.getAddress())
                ? hostProvider()
                        .filter(provider -> isServed(provider, space, peer))
                        .flatMap(provider -> ofProgram(named, from).or(() -> within(provider, from)))
                : Optional.empty();
    }

    /// Returns whether the peer is on this host, and has the port at a device of the host.
    ///
    /// @param from the own address towards the peer
    static boolean isServedWithin(PortSpace space, Gid from, InetSocketAddress peer) {
        return isHere(from, peer.getAddress())
                && hostProvider()
                        .filter(provider -> isServed(provider, space, peer))
                        .isPresent();
    }

    private static boolean isHere(Gid from, InetAddress peer) {
        return peer.isLoopbackAddress() || (from.equals(Gid.of(peer)) && !from.isLinkLocal());
    }

    private static boolean isServed(Provider provider, PortSpace space, InetSocketAddress peer) {
        return provider.served(space.serviceId(peer.getPort()), Gid.of(peer.getAddress())) == Served.YES;
    }

    /// Returns the device of the host that the channel names.
    private static Optional<Lease> ofProgram(DeviceChoice named, Gid local) {
        return named.ofHost(local).map(context -> lent(context, local, true));
    }

    /// Returns a share of a device that the program has opened, and will close.
    private static Lease lent(Context context, Gid local, boolean isOfHost) {
        return new Lease(context, local, isOfHost, () -> lent(context, local, isOfHost), () -> {});
    }

    private static Optional<Provider> hostProvider() {
        return providers().filter(Provider::isOfHost).findFirst();
    }

    /// Returns the device within this host: one has all addresses that the host had when it was opened; another
    /// address, of 127.0.0.0/8 for example, has a device of its own.
    private static Optional<Lease> within(Provider provider, Gid local) {
        synchronized (OPEN) {
            for (String name : List.of(provider.kind(), provider.kind() + "@" + local)) {
                try {
                    Shared shared = OPEN.get(name);
                    Device device = shared == null ? provider.device(name).orElseThrow() : shared.context.device();
                    if (device.gids().stream().anyMatch(entry -> entry.gid().equals(local))) {
                        return Optional.of(lease(shared == null ? share(name, device.open(), true) : shared, local));
                    }
                } catch (DeviceException e) {
                    return Optional.empty(); // no room for another one, or the system forbids it: the network is left
                }
            }
        }
        return Optional.empty();
    }

    /// Returns the device that a client uses towards a peer: at the address that the system would choose. When
    /// another user's process has that address and the peer is on this host too, it is at a free loopback address.
    ///
    /// @param from the system's choice
    /// @throws ConnectionException when there is none
    static Lease reaching(DeviceChoice named, OwnAddress from, InetAddress peer) {
        try {
            return at(named, from);
        } catch (ConnectionException taken) {
            if (named.device().isPresent()
                    || !isHere(from.gid(), peer)
                    || !from.gid().isIpv4()) { // IPv6 has one loopback address only
                throw taken;
            }
            try {
                return atOwnLoopback(from);
            } catch (VerbsException e) {
                taken.addSuppressed(e);
                throw taken;
            }
        }
    }

    private static Lease atOwnLoopback(OwnAddress insteadOf) {
        synchronized (OPEN) {
            String own = ownLoopback;
            Shared shared = own == null ? null : OPEN.get(own);
            if (shared == null) {
                Context context = provided(insteadOf, Provider::kind).open();
                ownLoopback = context.gids(1).getFirst().gid().toString();
                shared = share(ownLoopback, context, false);
            }
            return lease(shared, shared.context.gids(1).getFirst().gid());
        }
    }

    /// Gives a share back; the device stays open for a while. A program that makes one connection after the other
    /// would open a device for each of them, and wait for that a hundred times as long as for the connection.
    private static void giveBack(Shared shared) {
        synchronized (OPEN) {
            if (--shared.users == 0) {
                shared.closing = System.nanoTime() + LINGER.toNanos();
                if (!shared.isWatched) {
                    shared.isWatched = true;
                    Thread.ofVirtual().name("verbena-shared-device").start(() -> closeWhenUnused(shared));
                }
            }
        }
    }

    /// Closes a device when it has had no users for a while. What the program made on it may outlive the
    /// connections: then this looks again, each time after twice the time.
    private static void closeWhenUnused(Shared shared) {
        Duration wait = LINGER;
        while (true) {
            LockSupport.parkNanos(wait.toNanos());
            synchronized (OPEN) {
                boolean isDue = shared.closing - System.nanoTime() <= 0;
                if (shared.users > 0 || (isDue && isClosed(shared))) {
                    shared.isWatched = false;
                    return;
                }
                wait = isDue ? Collections.min(List.of(wait.multipliedBy(2), LOOK_MAX)) : LINGER;
            }
        }
    }

    /// Closes a device, unless the program has objects on it. Called with [#OPEN] locked.
    private static boolean isClosed(Shared shared) {
        try {
            shared.context.close();
            OPEN.remove(shared.key, shared);
            return true;
        } catch (InUseException e) {
            return false;
        }
    }

    /// Returns the first device that a provider has by the name that `name` makes for it.
    private static Device provided(OwnAddress local, Function<Provider, String> name) {
        return providers()
                .filter(provider -> !provider.isOfHost())
                .sorted(Comparator.comparing(provider -> !provider.isOfSystem()))
                .flatMap(provider -> provider.device(name.apply(provider)).stream())
                .findFirst()
                .orElseThrow(() -> new ConnectionException(
                        ConnectionException.Reason.ADDRESS,
                        "there is no provider of devices for " + local + ": put verbena.nic on the module path"));
    }

    private static Stream<Provider> providers() {
        return StreamSupport.stream(Providers.all().spliterator(), false);
    }

    /// Returns the local address to use towards `peer`.
    static OwnAddress towards(Optional<Context> only, InetAddress peer) {
        Gid to = Gid.of(peer);
        if (only.isPresent()) {
            return OwnAddress.of(only.get().gidFor(1, to).gid());
        }
        try (var probe = DatagramChannel.open()) {
            probe.connect(new InetSocketAddress(peer, ROCE_PORT)); // sends nothing
            if (probe.getLocalAddress() instanceof InetSocketAddress own
                    && !own.getAddress().isAnyLocalAddress()) {
                return OwnAddress.of(own.getAddress());
            }
        } catch (IOException e) {
            if (peer instanceof Inet4Address && peer.isLoopbackAddress()) {
                return OwnAddress.of(LOOPBACK); // not all of 127.0.0.0/8 is local, but peers there are
            }
            throw new ConnectionException(
                    ConnectionException.Reason.ADDRESS,
                    "no address of this host reaches " + peer.getHostAddress() + ": " + e.getMessage(),
                    e);
        }
        throw new ConnectionException(
                ConnectionException.Reason.ADDRESS, "no address of this host reaches " + peer.getHostAddress());
    }

    /// Returns where a peer at a loopback address answers. A listener at all addresses of a host has 127.0.0.1 as
    /// the only one of loopback's, and a host's name is often 127.0.1.1. So an address of 127.0.0.0/8 means
    /// 127.0.0.1 when no device has it, and when those that have it do not serve the port and 127.0.0.1 does.
    ///
    /// @param only the device to use, if the program named one
    static InetSocketAddress answering(Optional<Context> only, PortSpace space, InetSocketAddress peer) {
        InetAddress at = peer.getAddress();
        if (!(at instanceof Inet4Address) || !at.isLoopbackAddress() || at.equals(LOOPBACK)) {
            return peer;
        }
        boolean isIwarp = only.filter(context -> context.device().transportType() == TransportType.IWARP)
                .isPresent();
        boolean isElsewhere = !isServedWithin(space, Gid.of(LOOPBACK), peer)
                && (isIwarp ? isSilent(peer) : isFree(at) || isServedAtLoopbackOnly(space, peer));
        return isElsewhere ? new InetSocketAddress(LOOPBACK, peer.getPort()) : peer;
    }

    private static boolean isServedAtLoopbackOnly(PortSpace space, InetSocketAddress peer) {
        long service = space.serviceId(peer.getPort());
        return providers().anyMatch(provider -> provider.served(service, Gid.of(peer.getAddress())) == Served.NO)
                && providers().anyMatch(provider -> provider.served(service, Gid.of(LOOPBACK)) == Served.YES);
    }

    /// Returns whether no device of RoCE has an address.
    private static boolean isFree(InetAddress at) {
        try (var probe = DatagramChannel.open()) {
            probe.bind(new InetSocketAddress(at, ROCE_PORT));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /// Returns whether no program listens at an address and port of TCP: a device of iWARP has nothing else at its
    /// address.
    private static boolean isSilent(InetSocketAddress at) {
        try (var probe = new Socket()) {
            probe.setReuseAddress(true); // connections that have ended are no listener
            probe.bind(at);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /// Returns all addresses of this host, or of `only`, that a wildcard address stands for: `0.0.0.0` for IPv4 and
    /// `::` for both families, unless it is to be one. Link-local addresses mean nothing without an interface and
    /// have to be named.
    static List<Gid> all(Optional<Context> only, InetAddress wildcard, boolean oneFamily) {
        Stream<Gid> gids = only.isPresent()
                ? only.get().gids(1).stream().map(GidEntry::gid)
                : upInterfaces().flatMap(NetworkInterface::inetAddresses).map(Gid::of);
        boolean isIpv4 = wildcard instanceof Inet4Address;
        return gids.filter(gid -> gid.isIpv4() ? isIpv4 || !oneFamily : !isIpv4)
                .filter(gid -> !gid.isLinkLocal())
                .toList();
    }

    private static Stream<NetworkInterface> upInterfaces() {
        try {
            return NetworkInterface.networkInterfaces().filter(each -> {
                try {
                    return each.isUp();
                } catch (SocketException e) {
                    return false; // it has just gone
                }
            });
        } catch (SocketException e) {
            throw new ConnectionException(
                    ConnectionException.Reason.ADDRESS, "the addresses of this host: " + e.getMessage(), e);
        }
    }
}
