package verbena.tools.doctor;

import java.io.PrintWriter;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import verbena.tools.doctor.Finding.Level;

/// A search for the obstacles that keep connections from working, with the remedies.
public final class Doctor {
    private static final String INDENT = " ".repeat(6);

    private final Surroundings surroundings;
    private final List<Check> checks;

    Doctor(Surroundings surroundings, List<Check> checks) {
        this.surroundings = surroundings;
        this.checks = List.copyOf(checks);
    }

    /// Returns a doctor for this host.
    public static Doctor ofThisHost() {
        return new Doctor(new ThisHost(), ofHost());
    }

    /// Returns a doctor for the path from this host to a peer.
    ///
    /// @param host name or address
    /// @param port on which a program should listen there; empty for any peer
    /// @param timeout how long an answer may take
    public static Doctor ofPeer(String host, OptionalInt port, Duration timeout) {
        return new Doctor(new ThisHost(), List.of(new WayToPeer(host, port, timeout, new SecureRandom())));
    }

    static List<Check> ofHost() {
        return List.of(
                new JavaRuntime(),
                new OwnAddresses(),
                new Port(),
                new Limits(),
                new SelfTest(),
                new SharedMemory(),
                new EthernetRights(),
                new Hardware());
    }

    /// Looks, and prints each finding as soon as it is there.
    ///
    /// @return whether nothing fails
    public boolean examine(PrintWriter out) {
        var count = new int[Level.values().length];
        for (Check check : checks) {
            for (Finding finding : check.look(surroundings)) {
                count[finding.level().ordinal()]++;
                print(out, finding);
            }
            out.flush();
        }
        int failures = count[Level.FAIL.ordinal()];
        int warnings = count[Level.WARN.ordinal()];
        out.println();
        out.println(
                failures == 0 && warnings == 0
                        ? "All is well."
                        : "%d FAIL, %d WARN, %d OK%s"
                                .formatted(
                                        failures,
                                        warnings,
                                        count[Level.OK.ordinal()],
                                        failures == 0 ? ": connections can work." : "."));
        out.flush();
        return failures == 0;
    }

    private static void print(PrintWriter out, Finding finding) {
        out.println("%-4s  %s: %s".formatted(finding.level(), finding.subject(), finding.seen()));
        finding.details().forEach(line -> out.println(INDENT + "  " + line));
        if (!finding.remedy().isEmpty()) {
            out.println(INDENT + "-> " + finding.remedy());
        }
    }
}
