package verbena.ibverbs;

import static verbena.foreign.rdma.VerbsStructs.GID_ENTRY;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.ibverbs.objects.OpenContext;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;

/// The GIDs of a device's ports, and what else the kernel tells in files.
final class GidTable {
    private static final int IP_PORT = 4791;

    private final OpenContext context;
    private final Path sysfs;

    /// @param sysfs the device's folder there
    GidTable(OpenContext context, Path sysfs) {
        this.context = context;
        this.sysfs = sysfs;
    }

    /// @param length entries that the device's table has room for
    List<GidEntry> entries(int port, int length) {
        boolean isTable = context.library().queryGidTable.isPresent();
        List<GidEntry> found = isTable ? byTable(port, length) : byFiles(port, length);
        return context.isIwarp() ? addresses(found) : found;
    }

    /// Returns the number of the interface's addresses, for an iWARP device.
    int addressCount(int port) {
        return entries(port, 1).size();
    }

    private List<GidEntry> byTable(int port, int length) {
        long max = (long) Math.max(1, length) * context.attributes().physicalPorts();
        try (Arena arena = Arena.ofConfined()) {
            long table = arena.allocate(max * GID_ENTRY.size(), 8).address();
            var result = context.library()
                    .queryGidTable
                    .orElseThrow()
                    .call(context.address(), table, max, 0, GID_ENTRY.size());
            if (result.value() < 0) {
                return byFiles(port, length); // a kernel before 5.10
            }
            var entries = new ArrayList<GidEntry>();
            for (long i = 0; i < result.value(); i++) {
                long at = table + i * GID_ENTRY.size();
                if (Memory.getInt(at + GID_ENTRY.at("port_num")) == port) {
                    int type = Memory.getInt(at + GID_ENTRY.at("gid_type"));
                    int netdev = Memory.getInt(at + GID_ENTRY.at("ndev_ifindex"));
                    entries.add(new GidEntry(
                            Memory.getInt(at + GID_ENTRY.at("gid_index")),
                            Memory.getGid(at),
                            type == 2 ? GidType.ROCE_V2 : type == 1 ? GidType.ROCE_V1 : GidType.IB,
                            interfaceName(netdev),
                            netdev));
                }
            }
            return entries;
        }
    }

    private static String interfaceName(int index) {
        try {
            NetworkInterface found = index == 0 ? null : NetworkInterface.getByIndex(index);
            return found == null ? "" : found.getName();
        } catch (SocketException e) {
            return "";
        }
    }

    /// Reads the entries as every kernel has them: a file for each.
    private List<GidEntry> byFiles(int port, int length) {
        Path folder = sysfs.resolve("ports").resolve(Integer.toString(port));
        var entries = new ArrayList<GidEntry>();
        for (int i = 0; i < length; i++) {
            String index = Integer.toString(i);
            String text = read(folder.resolve("gids").resolve(index));
            if (text == null || text.matches("[0:]*")) {
                continue;
            }
            String type = read(folder.resolve("gid_attrs/types").resolve(index));
            String netdev = read(folder.resolve("gid_attrs/ndevs").resolve(index));
            entries.add(new GidEntry(
                    i,
                    Gid.parse(text),
                    "RoCE v2".equals(type) ? GidType.ROCE_V2 : netdev == null ? GidType.IB : GidType.ROCE_V1,
                    netdev == null ? "" : netdev,
                    interfaceIndex(netdev)));
        }
        return entries;
    }

    private static int interfaceIndex(@Nullable String name) {
        try {
            NetworkInterface found = name == null || name.isEmpty() ? null : NetworkInterface.getByName(name);
            return found == null ? 0 : found.getIndex();
        } catch (SocketException e) {
            return 0;
        }
    }

    /// Returns the addresses that peers use. An iWARP device's one GID is a MAC address (RFC 5040 knows none); its
    /// peers go by IP addresses, those of the interface with that MAC address.
    private static List<GidEntry> addresses(List<GidEntry> found) {
        var entries = new ArrayList<GidEntry>();
        for (GidEntry entry : found) {
            byte[] mac = ByteBuffer.allocate(6).put(entry.gid().bytes(), 0, 6).array();
            try (Stream<NetworkInterface> all = NetworkInterface.networkInterfaces()) {
                for (NetworkInterface each : all.toList()) {
                    if (java.util.Arrays.equals(mac, each.getHardwareAddress())) {
                        each.inetAddresses()
                                .map(Gid::of)
                                .forEach(gid -> entries.add(new GidEntry(
                                        entries.size(), gid, GidType.IWARP, each.getName(), each.getIndex())));
                    }
                }
            } catch (SocketException e) {
                // An interface that has just gone.
            }
        }
        return entries;
    }

    private static @Nullable String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return null; // an entry that is not used
        }
    }

    /// Reads numbers in files of a port's folder, under the files' names, summed over ports.
    void readNumbers(int port, String folder, SortedMap<String, Long> into) {
        try (Stream<Path> files = Files.list(
                sysfs.resolve("ports").resolve(Integer.toString(port)).resolve(folder))) {
            for (Path file : files.toList()) {
                String text = read(file);
                if (text != null && text.matches("\\d{1,18}")) {
                    into.merge(file.getFileName().toString(), Long.parseLong(text), Long::sum);
                }
            }
        } catch (IOException e) {
            // A device that counts nothing.
        }
    }

    /// Returns the entry to use towards a peer. RoCE v2 comes before v1; the entry has the peer's address family
    /// and scope. Where there are several, it is the entry that the system would send from.
    static GidEntry towards(Gid peer, List<GidEntry> table, String device) {
        boolean isEthernet = table.stream().anyMatch(own -> own.type() != GidType.IB);
        List<GidEntry> fitting = table.stream()
                .filter(own -> own.gid().isIpv4() == peer.isIpv4())
                .filter(own -> !isEthernet || own.gid().isLinkLocal() == peer.isLinkLocal())
                .sorted(java.util.Comparator.comparing(own -> own.type() == GidType.ROCE_V1))
                .toList();
        if (fitting.isEmpty()) {
            throw new DeviceException("gid: " + device + " has no address to reach " + peer + " from; it has "
                    + table.stream().map(own -> own.gid().toString()).toList());
        }
        if (fitting.size() > 1 && isEthernet) {
            Gid routed = routedSource(peer);
            for (GidEntry own : fitting) {
                if (own.gid().equals(routed)) {
                    return own;
                }
            }
        }
        return fitting.getFirst();
    }

    private static @Nullable Gid routedSource(Gid peer) {
        try (var probe = new DatagramSocket(null)) {
            probe.connect(new InetSocketAddress(peer.address(), IP_PORT)); // sends nothing
            return Gid.of(probe.getLocalAddress());
        } catch (SocketException | RuntimeException e) {
            return null; // no route: the first that fits is as good as any
        }
    }
}
