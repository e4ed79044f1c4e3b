package verbena.tools.doctor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// What there is of RDMA hardware and its software. Verbena's software devices need none of it.
final class Hardware implements Check {
    private static final String LIBRARY = "libibverbs.so.1";

    @Override
    public List<Finding> look(Surroundings at) {
        Path root = at.root();
        List<String> devices = names(root.resolve("sys/class/infiniband"), "*");
        String seen = (devices.isEmpty() ? "no kernel device" : "kernel devices " + String.join(", ", devices))
                + "; libibverbs " + (hasLibrary(root) ? "present" : "not installed")
                + "; /dev/infiniband " + nodes(root)
                + "; memory that may be locked: " + Limits.of(root, "Max locked memory");
        return List.of(Finding.ok("hardware", seen + " (software devices need none of this)"));
    }

    /// The devices of the kernel's soft-RoCE, which have a network interface for a parent.
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
        boolean usable = nodes.stream()
                .map(root.resolve("dev/infiniband")::resolve)
                .allMatch(node -> Files.isReadable(node) && Files.isWritable(node));
        return String.join(", ", nodes) + (usable ? "" : " (not all usable by this user)");
    }

    private static boolean hasLibrary(Path root) {
        return Stream.of("usr/lib", "usr/lib64", "lib", "lib64", "usr/local/lib")
                .map(root::resolve)
                .flatMap(folder -> Stream.concat(
                        Stream.of(folder), names(folder, "*-linux-gnu").stream().map(folder::resolve)))
                .anyMatch(folder -> Files.exists(folder.resolve(LIBRARY)));
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
