package verbena.nic.link;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.Mtu;

/// The network interfaces of this host, as candidates for devices.
public final class Interfaces {
    private static final long BITS_PER_MEGABIT = 1_000_000;

    /// The words by which the JDK reports that there are no interfaces; it has no exception of its own for that.
    private static final String NO_INTERFACES = "No network interfaces configured";

    private Interfaces() {}

    /// One interface.
    ///
    /// @param name for example `eth0`
    /// @param index the operating system's index of it
    /// @param mtu in bytes
    /// @param mac the 48 bits of its hardware address; 0 when it has none
    /// @param up whether it is up and has its link
    /// @param loopback whether it is the loopback interface
    /// @param bitsPerSecond its speed, if the system knows it
    /// @param gids the GID table of a RoCE v2 device on it: link-local addresses first, then IPv4, then other IPv6,
    ///     as soft-RoCE has them; empty when the interface has no address
    public record HostInterface(
            String name,
            int index,
            int mtu,
            long mac,
            boolean up,
            boolean loopback,
            OptionalLong bitsPerSecond,
            List<GidEntry> gids) {
        public HostInterface {
            gids = List.copyOf(gids);
        }

        /// Returns the largest path MTU that fits, as soft-RoCE computes it: a payload of 4096, …, 256 bytes
        /// and 80 bytes of headers.
        public Mtu pathMtu() {
            return PathMtu.ofInterface(mtu);
        }

        /// Returns the interface with another GID table.
        public HostInterface with(List<GidEntry> entries) {
            return new HostInterface(name, index, mtu, mac, up, loopback, bitsPerSecond, entries);
        }

        /// Returns the interface with another GID table of one IPv4 or IPv6 address. Devices on loopback need
        /// it: every address of 127.0.0.0/8 is local there, though only one is listed.
        public HostInterface withOnly(InetAddress address) {
            GidEntry entry = new GidEntry(0, Gid.of(address), GidType.ROCE_V2, name, index);
            return with(List.of(entry));
        }
    }

    /// Returns all interfaces, in the order of their indexes. Empty where not even loopback has an address, as in a
    /// new network namespace.
    ///
    /// @throws LinkException when the system does not report them
    public static List<HostInterface> all() {
        try {
            var found = new ArrayList<HostInterface>();
            for (NetworkInterface one : NetworkInterface.networkInterfaces().toList()) {
                found.add(describe(one));
            }
            found.sort(Comparator.comparingInt(HostInterface::index));
            return List.copyOf(found);
        } catch (SocketException e) {
            if (NO_INTERFACES.equals(e.getMessage())) {
                return List.of();
            }
            throw new LinkException(LinkException.Kind.FAILED, "interfaces: " + e.getMessage(), e);
        }
    }

    /// Returns whether the interface of an entry has its address.
    public static boolean has(GidEntry entry) {
        return all().stream()
                .filter(one -> one.index() == entry.interfaceIndex())
                .flatMap(one -> one.gids().stream())
                .anyMatch(each -> each.gid().equals(entry.gid()));
    }

    /// Returns the interface that has the address now; null when none has.
    public static @Nullable NetworkInterface of(GidEntry entry) throws SocketException {
        InetAddress address = entry.gid().address();
        NetworkInterface at = NetworkInterface.getByInetAddress(address);
        // All of 127.0.0.0/8 is local, but only 127.0.0.1 is listed.
        return at == null && address.isLoopbackAddress() ? NetworkInterface.getByIndex(entry.interfaceIndex()) : at;
    }

    /// Returns the entries that the host has now, on an interface that is up.
    public static List<GidEntry> live(List<GidEntry> gids) {
        return gids.stream().filter(Interfaces::isLive).toList();
    }

    private static boolean isLive(GidEntry entry) {
        try {
            NetworkInterface at = Interfaces.of(entry);
            return at != null && at.isUp();
        } catch (SocketException e) {
            return false; // the interface has just gone
        }
    }

    /// Returns the interface of `at`, an address that is to join `group`.
    public static NetworkInterface of(Gid group, GidEntry at) throws SocketException {
        NetworkInterface found = NetworkInterface.getByIndex(at.interfaceIndex());
        if (found == null) {
            throw LinkException.ofJoin(
                    LinkException.Kind.ADDRESS_NOT_LOCAL, group, at, "index " + at.interfaceIndex(), null);
        }
        return found;
    }

    /// Returns the address of `gid`, with its interface where the address alone is ambiguous.
    public static InetAddress scoped(Gid gid, int interfaceIndex) {
        if (gid.isIpv4() || !(gid.isLinkLocal() || gid.isMulticast())) {
            return gid.address();
        }
        try {
            return Inet6Address.getByAddress(null, gid.bytes(), interfaceIndex);
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are always an address", e);
        }
    }

    /// Returns the loopback interface.
    ///
    /// @throws LinkException when there is none
    public static HostInterface loopback() {
        return all().stream()
                .filter(HostInterface::loopback)
                .findFirst()
                .orElseThrow(() -> new LinkException(
                        LinkException.Kind.UNSUPPORTED,
                        "there is no loopback interface, or it is down: set it up first (Linux: ip link set lo up)"));
    }

    /// Returns the loopback interface with the addresses of all interfaces that are up, loopback's first; without
    /// link-local ones, which mean nothing without their interface.
    ///
    /// @throws LinkException when there is no loopback interface
    public static HostInterface wholeHost() {
        HostInterface loopback = loopback();
        var entries = new ArrayList<>(loopback.gids());
        for (HostInterface one : all()) {
            for (GidEntry entry : one.up() && !one.loopback() ? one.gids() : List.<GidEntry>of()) {
                if (!entry.gid().isLinkLocal()) {
                    entries.add(new GidEntry(
                            entries.size(),
                            entry.gid(),
                            entry.type(),
                            entry.networkInterface(),
                            entry.interfaceIndex()));
                }
            }
        }
        return loopback.with(entries);
    }

    private static HostInterface describe(NetworkInterface one) throws SocketException {
        return new HostInterface(
                one.getName(),
                one.getIndex(),
                one.getMTU(),
                mac(one.getHardwareAddress()),
                one.isUp(),
                one.isLoopback(),
                bitsPerSecond(Path.of("/sys/class/net", one.getName(), "speed")),
                gids(one));
    }

    private static long mac(byte @Nullable [] address) {
        if (address == null || address.length != 6) {
            return 0;
        }
        long mac = 0;
        for (byte b : address) {
            mac = mac << 8 | (b & 0xFF);
        }
        return mac;
    }

    // Linux only: the file holds -1, or cannot be read, when the driver does not know the speed.
    private static OptionalLong bitsPerSecond(Path file) {
        try {
            long megabits = Long.parseLong(Files.readString(file).strip());
            return megabits > 0 ? OptionalLong.of(megabits * BITS_PER_MEGABIT) : OptionalLong.empty();
        } catch (IOException | NumberFormatException _) {
            return OptionalLong.empty();
        }
    }

    private static List<GidEntry> gids(NetworkInterface one) {
        List<Gid> ordered = one.inetAddresses()
                .map(Gid::of)
                .distinct()
                .sorted(Comparator.comparingInt(Interfaces::rank)) // stable: the system's order within a rank
                .toList();
        var entries = new ArrayList<GidEntry>();
        for (Gid gid : ordered) {
            entries.add(new GidEntry(entries.size(), gid, GidType.ROCE_V2, one.getName(), one.getIndex()));
        }
        return entries;
    }

    private static int rank(Gid gid) {
        if (gid.isLinkLocal()) {
            return 0;
        }
        return gid.isIpv4() ? 1 : 2;
    }
}
