package verbena.tools.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import verbena.verbs.Context;
import verbena.verbs.VerbsException;

/// Whether processes of this host can use memory that they share as their network, and which of them reach each
/// other.
final class SharedMemory implements Check {
    private static final String DEVICE = "shm";

    @Override
    public List<Finding> look(Surroundings at) {
        Optional<String> why = at.whyPortable();
        return List.of(
                why.isPresent()
                        ? Finding.warn(
                                DEVICE,
                                "does not work here: " + why.get(),
                                "processes of this host reach each other by rocev2 and iwarp, more slowly")
                        : test(at));
    }

    private static Finding test(Surroundings at) {
        try (Context context = at.open(DEVICE)) {
            Finding finding =
                    SelfTest.roundTrip(DEVICE, context, "run the command again with --stacktrace, and report it");
            return finding.isFailure() ? finding : Finding.ok(DEVICE, finding.seen() + "; " + reached(context));
        } catch (VerbsException e) {
            return Finding.fail(
                    DEVICE,
                    String.valueOf(e.getMessage()),
                    "it needs the loopback interface, memory files (memfd_create) and local sockets; a seccomp filter or"
                            + " the limit of open files may forbid them");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Finding.warn(DEVICE, "interrupted", "try again");
        }
    }

    private static String reached(Context context) {
        long neighbours = context.counters().getOrDefault("shm.neighbours.now", 0L);
        return "it reaches processes of this user in this network namespace" + namespace()
                + ", and connections to them take it when both ends can; devices that they have open now: "
                + neighbours;
    }

    /// Returns the network namespace of this process in parentheses, to compare with that of a container.
    private static String namespace() {
        try {
            return " (" + Files.readSymbolicLink(Path.of("/proc/self/ns/net")) + ")";
        } catch (IOException | UnsupportedOperationException _) {
            return ""; // no Linux, or no /proc
        }
    }
}
