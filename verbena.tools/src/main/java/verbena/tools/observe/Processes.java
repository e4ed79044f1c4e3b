package verbena.tools.observe;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The processes of this user and host that have a device of Verbena open. They are known by a thread whose name
/// begins with `verbena-`, which an engine has as long as its device is open. So no other process is attached to.
public final class Processes {
    private static final Path PROC = Path.of("/proc");
    private static final String THREAD = "verbena-";

    private Processes() {}

    /// Returns their numbers, ascending.
    ///
    /// @throws UnsupportedOperationException where the system does not tell; name the process then
    public static List<Long> find() {
        if (!Files.isDirectory(PROC.resolve("self/task"))) {
            throw new UnsupportedOperationException(
                    "this system does not tell the threads of processes: name the process with --pid (see jcmd -l)");
        }
        var found = new ArrayList<Long>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC, "[0-9]*")) {
            int own = owner(PROC.resolve("self"));
            for (Path process : all) {
                long pid = Long.parseLong(process.getFileName().toString());
                if (pid != ProcessHandle.current().pid() && isVerbena(process, own)) {
                    found.add(pid);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            throw new UnsupportedOperationException(
                    "cannot read " + PROC + ": name the process with --pid: " + e.getMessage(), e);
        }
        found.sort(null);
        return found;
    }

    private static boolean isVerbena(Path process, int owner) {
        try {
            if (owner(process) != owner) {
                return false;
            }
            try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
                for (Path thread : threads) {
                    if (Files.readString(thread.resolve("comm")).startsWith(THREAD)) {
                        return true;
                    }
                }
            }
        } catch (IOException | DirectoryIteratorException _) {
            return false; // it has ended, or is not ours to look at
        }
        return false;
    }

    private static int owner(Path process) throws IOException {
        return (int) Files.getAttribute(process, "unix:uid");
    }
}
