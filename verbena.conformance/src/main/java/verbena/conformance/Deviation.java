package verbena.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/// A known deviation from a promise, by kind of device, with its reason: the lines of `deviations.txt`. A missing
/// ability is no deviation: the device's capabilities declare it.
///
/// @param kind how the names of such devices begin, or [#KERNEL]
/// @param reason in a sentence
/// @param name of the case
public record Deviation(String kind, String reason, String name) {
    /// Every device that is reached through the kernel.
    public static final String KERNEL = "kernel";

    /// The kinds of devices that are not reached through the kernel.
    static final Set<String> OWN = Set.of("rocev2", "rocev1", "iwarp", "shm", "ib");

    private static final List<Deviation> ALL = parse();

    private static List<Deviation> parse() {
        var all = new ArrayList<Deviation>();
        String kind = "";
        String reason = "";
        for (String line : table().lines().toList()) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (line.startsWith(" ")) {
                all.add(new Deviation(kind, reason, line.strip()));
            } else {
                kind = line.substring(0, line.indexOf(':'));
                reason = line.substring(line.indexOf(':') + 1).strip();
            }
        }
        return List.copyOf(all);
    }

    private static String table() {
        try (InputStream in = Deviation.class.getResourceAsStream("deviations.txt")) {
            return new String(Objects.requireNonNull(in, "deviations.txt").readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static List<Deviation> all() {
        return ALL;
    }

    static Optional<Deviation> of(String kind, Case tried) {
        return ALL.stream()
                .filter(each -> each.name.equals(tried.name()))
                .filter(each -> each.kind.equals(kind) || (each.kind.equals(KERNEL) && !OWN.contains(kind)))
                .findFirst();
    }
}
