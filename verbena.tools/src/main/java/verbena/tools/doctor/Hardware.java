package verbena.tools.doctor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The RDMA hardware of this host, and its software. Verbena's software devices need none of it.
final class Hardware implements Check {
    private static final String LIBRARY = "libibverbs.so.1";
    /// The limit of locked memory below which large regions cannot be registered.
    private static final long LOCKED_WANTED = 64L << 20;

    @Override
    public List<Finding> look(Surroundings at) {
        Path root = at.root();
        List<String> devices = names(root.resolve("sys/class/infiniband"), "*");
        String locked = Limits.of(root, "Max locked memory");
        String seen = (devices.isEmpty() ? "no kernel device" : "kernel devices " + String.join(", ", devices))
                + "; libibverbs " + (hasLibrary(root, LIBRARY) ? "present" : "not installed")
                + "; /dev/infiniband " + nodes(root)
                + "; memory that may be locked: " + locked;
        var findings = new ArrayList<Finding>();
        findings.add(Finding.ok("hardware", seen + " (software devices need none of this)"));
        if (!devices.isEmpty()) {
            findings.addAll(obstacles(at, String.join(", ", devices), locked));
        }
        return findings;
    }

    /// Returns the obstacles that keep a program from using the devices that are there.
    private static List<Finding> obstacles(Surroundings at, String devices, String locked) {
        Path root = at.root();
        var findings = new ArrayList<Finding>();
        String unusable = "Verbena cannot use them: ";
        if (!hasLibrary(root, LIBRARY)) {
            findings.add(Finding.warn(
                    devices,
                    unusable + "libibverbs is not installed",
                    "apt-get install libibverbs1 ibverbs-providers (Fedora, RHEL: dnf install libibverbs)"));
        } else {
            at.whyNoVerbs().ifPresent(why -> findings.add(Finding.warn(devices, unusable + why, "see there")));
        }
        if (!hasLibrary(root, "librdmacm.so.1")) {
            findings.add(Finding.warn(
                    devices,
                    "no connections by address and port: librdmacm is not installed",
                    "apt-get install librdmacm1 (Fedora, RHEL: dnf install librdmacm)"));
        }
        if (!areUsable(root)) {
            findings.add(Finding.warn(
                    devices,
                    unusable + "/dev/infiniband " + nodes(root),
                    "load ib_uverbs and rdma_ucm; udev's rules of rdma-core make the files usable by all, a container"
                            + " needs --device /dev/infiniband"));
        }
        if (locked.matches("\\d{1,18}") && Long.parseLong(locked) < LOCKED_WANTED) {
            findings.add(Finding.warn(
                    devices,
                    "only " + locked + " bytes may be locked, and every registered page is locked",
                    "ulimit -l unlimited, systemd's LimitMEMLOCK=infinity, or Docker's --ulimit memlock=-1"));
        }
        return findings;
    }

    /// Returns the devices of the kernel's soft-RoCE, which have a network interface for a parent.
    static List<String> softRoceDevices(Path root) {
        Path devices = root.resolve("sys/class/infiniband");
        return names(devices, "*").stream()
                .filter(name -> Files.exists(devices.resolve(name).resolve("parent")))
                .toList();
    }

    private static String nodes(Path root) {
        List<String> nodes = names(root.resolve("dev/infiniband"), "uverbs*");
        if (nodes.isEmpty()) {
            return "has no uverbs device";
        }
        return String.join(", ", nodes) + (areUsable(root) ? "" : " (not all usable by this user)");
    }

    private static boolean areUsable(Path root) {
        List<String> nodes = names(root.resolve("dev/infiniband"), "uverbs*");
        return !nodes.isEmpty()
                && nodes.stream()
                        .map(root.resolve("dev/infiniband")::resolve)
                        .allMatch(node -> Files.isReadable(node) && Files.isWritable(node));
    }

    private static boolean hasLibrary(Path root, String name) {
        return Stream.of("usr/lib", "usr/lib64", "lib", "lib64", "usr/local/lib")
                .map(root::resolve)
                .flatMap(folder -> Stream.concat(
                        Stream.of(folder), names(folder, "*-linux-gnu").stream().map(folder::resolve)))
                .anyMatch(folder -> Files.exists(folder.resolve(name)));
    }

    private static List<String> names(Path folder, String glob) {
        var names = new ArrayList<String>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, glob)) {
            all.forEach(one -> names.add(one.getFileName().toString()));
        } catch (IOException _) {
            return List.of(); // there is no such folder
        }
        names.sort(null);
        return names;
    }
}
