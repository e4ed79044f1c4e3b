package verbena.abi.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.LinkLayer;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortState;
import verbena.verbs.TransportType;

/// The files that programs look for under `/sys/class/infiniband`, `/sys/class/infiniband_verbs` and
/// `/dev/infiniband` beside calling libibverbs: a folder that `libverbena-files.so` leads them to
/// ([decision 37](../../../../../../../docs/decisions/37-what-c-sees.md)). Names and formats are those of the
/// kernel (Documentation/ABI/stable/sysfs-class-infiniband).
final class DeviceFiles {
    /// Then the number of the process that takes the folder away at its end, and something unpredictable.
    private static final String NAME = "verbena-files.";

    private static final String CLASS = "sys/class/infiniband";
    private static final String VERBS_CLASS = "sys/class/infiniband_verbs";
    private static final String NODES = "dev/infiniband";
    /// The version in the form of `ibv_query_device`.
    private static final String FIRMWARE = "verbena 0.1";

    private static final int VERBS_MAJOR = 231;
    private static final int VERBS_MINOR = 192;

    private final Path folder;

    private DeviceFiles(Path folder) {
        this.folder = folder;
    }

    /// Makes the folder, at once and as a whole, unless another process of the same program has.
    ///
    /// @param wanted its path; null: a path of this process's own
    /// @return where it is, without links on the way
    static Path make(@Nullable Path wanted) {
        try {
            Path parent = wanted == null
                    ? Path.of(System.getProperty("java.io.tmpdir"))
                    : wanted.toAbsolutePath().getParent();
            if (parent == null) {
                throw new IllegalArgumentException("VERBENA_FILES: " + wanted + " is not in a folder");
            }
            removeOld(parent);
            Path made = Files.createTempDirectory(
                    parent, NAME + ProcessHandle.current().pid() + "."); // for us alone
            new DeviceFiles(made).write(DeviceHandle.list());
            return (wanted == null ? made : moved(made, wanted)).toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException("the folder of device files: " + e.getMessage(), e);
        }
    }

    private static Path moved(Path made, Path target) throws IOException {
        try {
            return Files.move(made, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileAlreadyExistsException e) {
            return others(made, target);
        } catch (FileSystemException e) {
            if (!Files.isDirectory(target)) {
                throw e;
            }
            return others(made, target); // Linux calls it a directory that is not empty
        }
    }

    /// Returns the folder of another process that was faster. A folder of another user is not taken.
    private static Path others(Path made, Path target) throws IOException {
        if (!Files.getOwner(made).equals(Files.getOwner(target))) {
            return made;
        }
        remove(made);
        return target;
    }

    /// Removes the folders of processes that were killed.
    private static void removeOld(Path parent) throws IOException {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, NAME + "*")) {
            for (Path each : found) {
                String pid =
                        each.getFileName().toString().substring(NAME.length()).replaceFirst("\\..*", "");
                if (pid.matches("\\d{1,9}")
                        && ProcessHandle.of(Long.parseLong(pid)).isEmpty()
                        && Files.isDirectory(each)
                        && Files.isWritable(each)) {
                    remove(each);
                }
            }
        }
    }

    /// Removes a folder. Another process may do the same at this moment.
    private static void remove(Path folder) throws IOException {
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException cause) {
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path each, @Nullable IOException cause) throws IOException {
                Files.deleteIfExists(each);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    // ---- what is in it

    private void write(List<DeviceHandle> devices) throws IOException {
        Files.createDirectories(folder.resolve(CLASS));
        put(VERBS_CLASS + "/abi_version", "6");
        node("rdma_cm");
        for (DeviceHandle device : devices) {
            writeDevice(device);
        }
    }

    private void writeDevice(DeviceHandle of) throws IOException {
        boolean isIwarp = of.device().transportType() == TransportType.IWARP;
        List<GidEntry> gids = of.device().gids();
        String guid = words(of.device().nodeGuid());
        String at = CLASS + "/" + of.name() + "/";
        put(at + "node_type", isIwarp ? "4: RNIC" : "1: CA");
        put(at + "node_guid", guid);
        put(at + "sys_image_guid", guid);
        put(at + "node_desc", "Verbena");
        put(at + "hca_type", "Verbena");
        put(at + "board_id", "Verbena");
        put(at + "hw_rev", "0");
        put(at + "fw_ver", FIRMWARE);
        writePort(at + "ports/1/", gids, of.device().port());
        hardware(at + "device", gids);

        String verbs = VERBS_CLASS + "/" + of.verbsName() + "/";
        put(verbs + "ibdev", of.name());
        put(verbs + "abi_version", "1");
        put(verbs + "dev", VERBS_MAJOR + ":" + (VERBS_MINOR + of.number()));
        hardware(verbs + "device", gids);
        node(of.verbsName());
    }

    /// @param port as it is, where the device says so before it is open
    private void writePort(String at, List<GidEntry> gids, Optional<PortAttributes> port) throws IOException {
        boolean active =
                port.map(PortAttributes::state).map(PortState.ACTIVE::equals).orElse(!gids.isEmpty());
        boolean isNative = port.map(PortAttributes::linkLayer)
                .filter(LinkLayer.INFINIBAND::equals)
                .isPresent();
        put(at + "state", active ? "4: ACTIVE" : "1: DOWN");
        put(at + "phys_state", active ? "5: LinkUp" : isNative ? "2: Polling" : "3: Disabled");
        put(at + "link_layer", isNative ? "InfiniBand" : "Ethernet");
        put(at + "rate", isNative ? "100 Gb/sec (4X EDR)" : "2.5 Gb/sec (1X SDR)");
        PortAttributes.Lids lids = port.map(PortAttributes::lids).orElse(PortAttributes.Lids.NONE);
        put(at + "lid", "0x%x".formatted(lids.lid()));
        put(at + "lid_mask_count", String.valueOf(lids.maskControl()));
        put(at + "sm_lid", "0x%x".formatted(lids.subnetManagerLid()));
        put(at + "sm_sl", "0");
        put(at + "cap_mask", "0x00000000");
        put(at + "pkeys/0", "0xffff");
        for (GidEntry gid : gids) {
            put(at + "gids/" + gid.index(), words(gid.gid()));
            put(at + "gid_attrs/types/" + gid.index(), gid.type() == GidType.ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
            put(at + "gid_attrs/ndevs/" + gid.index(), gid.networkInterface());
        }
    }

    /// Links the network card's own directory, so that programs see where the card sits; without a card, there is
    /// no particular place.
    private void hardware(String at, List<GidEntry> gids) throws IOException {
        for (GidEntry gid : gids) {
            Path card = Path.of("/sys/class/net", gid.networkInterface(), "device");
            if (Files.isDirectory(card)) {
                Files.createSymbolicLink(folder.resolve(at), card);
                return;
            }
        }
        put(at + "/numa_node", "-1");
        Path processors = Path.of("/sys/devices/system/cpu/online");
        put(
                at + "/local_cpulist",
                Files.isReadable(processors) ? Files.readString(processors).strip() : "0");
    }

    /// Makes a character device that every user may open, as UCX and others ask for.
    private void node(String name) throws IOException {
        Path node = folder.resolve(NODES).resolve(name);
        Files.createDirectories(folder.resolve(NODES));
        Files.createSymbolicLink(node, Path.of("/dev/null"));
    }

    private void put(String path, String text) throws IOException {
        Path file = folder.resolve(path);
        Path parent = file.getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        Files.writeString(file, text + "\n");
    }

    private static String words(long bits) {
        return "%04x:%04x:%04x:%04x".formatted(bits >>> 48, bits >>> 32 & 0xFFFF, bits >>> 16 & 0xFFFF, bits & 0xFFFF);
    }

    private static String words(Gid gid) {
        return words(gid.high()) + ":" + words(gid.low());
    }
}
