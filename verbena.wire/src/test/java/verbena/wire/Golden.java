package verbena.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/// The captures in `golden/`.
public final class Golden {
    private Golden() {}

    public static Path root() {
        return Path.of(Objects.requireNonNull(System.getProperty("verbena.root"), "verbena.root is set by the build"));
    }

    /// The captures whose names start with one of these, in order.
    public static List<Path> captures(String... prefixes) throws IOException {
        try (Stream<Path> files = Files.list(root().resolve("golden"))) {
            return files.filter(file -> file.toString().endsWith(".pcap"))
                    .filter(file ->
                            Stream.of(prefixes).anyMatch(file.getFileName().toString()::startsWith))
                    .sorted()
                    .toList();
        }
    }
}
