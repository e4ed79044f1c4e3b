package verbena.verbs.cm;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.channels.DatagramChannel;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.InUseException;
import verbena.verbs.VerbsException;
import verbena.verbs.spi.Provider;

/// The devices that connections of this process share: one for each local address that is in use.
final class LocalDevices {
    /// One user's share.
    static final class Lease implements AutoCloseable {
        private final Context context;
        private final Gid local;
        private final Supplier<Lease> again;
        private Runnable giveBack;

        private Lease(Context context, Gid local, Supplier<Lease> again, Runnable giveBack) {
            this.context = context;
            this.local = local;
            this.again = again;
            this.giveBack = giveBack;
        }

        Context context() {
            return context;
        }

        /// The address that it is about.
        Gid local() {
            return local;
        }

        int gidIndex() {
            return context.gids(1).stream()
                    .filter(entry -> entry.gid().equals(local))
                    .findFirst()
                    .orElseThrow(() -> new ConnectionException(
                            ConnectionException.Reason.ADDRESS, context.device().name() + " has " + local + " no more"))
                    .index();
        }

        /// Another share of the same.
        Lease again() {
            return again.get();
        }

        /// Idempotent.
        @Override
        public synchronized void close() {
            giveBack.run();
            giveBack = () -> {};
        }
    }

    private static final class Shared {
        private final Context context;
        private int users;

        private Shared(Context context) {
            this.context = context;
        }
    }

    /// Guarded by itself.
    private static final Map<Gid, Shared> OPEN = new HashMap<>();

    /// The loopback address that clients got because theirs was taken; in use when [#OPEN] has it. Guarded by
    /// [#OPEN].
    private static @Nullable Gid ownLoopback;

    private LocalDevices() {}

    /// The device that a channel names for a local address, or the shared one.
    ///
    /// @throws ConnectionException when there is none
    static Lease at(EventChannel channel, Gid local) {
        try {
            return at(channel.deviceAt(local), local);
        } catch (DeviceException e) {
            throw new ConnectionException(ConnectionException.Reason.ADDRESS, String.valueOf(e.getMessage()), e);
        }
    }

    /// The device that has a local address: `only`, or the shared one.
    ///
    /// @throws ConnectionException when there is none
    static Lease at(Optional<Context> only, Gid local) {
        if (only.isPresent()) {
            Context context = only.get();
            if (context.gids(1).stream().noneMatch(entry -> entry.gid().equals(local))) {
                throw new ConnectionException(
                        ConnectionException.Reason.ADDRESS,
                        local + " is no address of " + context.device().name() + "; it has "
                                + context.gids(1).stream()
                                        .map(entry -> entry.gid().toString())
                                        .toList());
            }
            return new Lease(context, local, () -> at(only, local), () -> {});
        }
        synchronized (OPEN) {
            Shared shared = OPEN.get(local);
            if (shared == null) {
                try {
                    shared = new Shared(provided(local, provider -> provider.kind() + "@" + local)
                            .open());
                } catch (DeviceException e) {
                    throw new ConnectionException(
                            ConnectionException.Reason.ADDRESS, String.valueOf(e.getMessage()), e);
                }
                OPEN.put(local, shared);
            }
            return lease(shared, local);
        }
    }

    /// Called with [#OPEN] locked.
    private static Lease lease(Shared shared, Gid local) {
        shared.users++;
        return new Lease(shared.context, local, () -> at(Optional.empty(), local), () -> giveBack(local));
    }

    /// The device that a client uses towards a peer: at the address that the system would choose; or, when another
    /// user's process has that address and the peer is on this host too, at a free loopback address.
    ///
    /// @throws ConnectionException when there is none
    static Lease reaching(EventChannel channel, InetAddress peer) {
        Optional<Context> only = channel.only();
        Gid from = towards(only, peer);
        try {
            return at(channel, from);
        } catch (ConnectionException taken) {
            boolean isHere = peer.isLoopbackAddress() || from.equals(Gid.of(peer));
            if (only.isPresent() || !isHere || !from.isIpv4()) { // IPv6 has one loopback address only
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

    private static Lease atOwnLoopback(Gid insteadOf) {
        synchronized (OPEN) {
            Gid own = ownLoopback;
            Shared shared = own == null ? null : OPEN.get(own);
            if (own == null || shared == null) {
                shared = new Shared(provided(insteadOf, Provider::kind).open());
                own = shared.context.gids(1).getFirst().gid();
                OPEN.put(own, shared);
                ownLoopback = own;
            }
            return lease(shared, own);
        }
    }

    private static void giveBack(Gid local) {
        synchronized (OPEN) {
            Shared shared = OPEN.get(local);
            if (shared != null && --shared.users == 0) {
                try {
                    shared.context.close();
                    OPEN.remove(local);
                } catch (InUseException e) {
                    // The program still has objects on it: the next caller finds it open, and closes it.
                }
            }
        }
    }

    /// The first device that a provider has by the name that `name` makes for it.
    private static Device provided(Gid local, Function<Provider, String> name) {
        List<Provider> providers = ServiceLoader.load(Provider.class).stream()
                .map(ServiceLoader.Provider::get)
                .sorted(Comparator.comparing(provider -> !provider.isOfSystem()))
                .toList();
        for (Provider provider : providers) {
            var device = provider.device(name.apply(provider));
            if (device.isPresent()) {
                return device.get();
            }
        }
        throw new ConnectionException(
                ConnectionException.Reason.ADDRESS,
                "there is no provider of devices for " + local + ": put verbena.nic on the module path");
    }

    /// The local address to use towards `peer`.
    static Gid towards(Optional<Context> only, InetAddress peer) {
        Gid to = Gid.of(peer);
        if (only.isPresent()) {
            return only.get().gidFor(1, to).gid();
        }
        try (var probe = DatagramChannel.open()) {
            probe.connect(new InetSocketAddress(peer, 4791)); // sends nothing
            if (probe.getLocalAddress() instanceof InetSocketAddress own
                    && !own.getAddress().isAnyLocalAddress()) {
                return Gid.of(own.getAddress());
            }
        } catch (IOException e) {
            throw new ConnectionException(
                    ConnectionException.Reason.ADDRESS,
                    "no address of this host reaches " + peer.getHostAddress() + ": " + e.getMessage(),
                    e);
        }
        throw new ConnectionException(
                ConnectionException.Reason.ADDRESS, "no address of this host reaches " + peer.getHostAddress());
    }

    /// All addresses of this host, or of `only`, that a wildcard address stands for: `0.0.0.0` for IPv4 and
    /// `::` for both families, unless it is to be one. Link-local addresses mean nothing without an interface
    /// and have to be named.
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
