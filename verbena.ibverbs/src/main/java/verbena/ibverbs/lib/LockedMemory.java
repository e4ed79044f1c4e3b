package verbena.ibverbs.lib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Memory that may be locked: what registering takes.
public final class LockedMemory {
    public static final String HINT = "raise it with ulimit -l, systemd's LimitMEMLOCK, Docker's --ulimit memlock, or"
            + " in /etc/security/limits.conf; CAP_IPC_LOCK lifts it";

    private LockedMemory() {}

    /// Returns the bytes that this process may lock; the largest number when there is no limit.
    public static long limitBytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
                if (line.startsWith("Max locked memory")) {
                    String soft =
                            line.substring("Max locked memory".length()).strip().split(" +", 2)[0];
                    return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
                }
            }
        } catch (IOException | NumberFormatException e) {
            // A system that does not tell.
        }
        return Long.MAX_VALUE;
    }
}
