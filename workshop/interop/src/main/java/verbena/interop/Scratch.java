package verbena.interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// A folder for the files of a run, which are gone when it is closed, or when this process ends.
record Scratch(Path folder) implements AutoCloseable {
    private static final Set<Scratch> OPEN = ConcurrentHashMap.newKeySet();

    static Scratch make() throws IOException {
        var made = new Scratch(Files.createTempDirectory("verbena-interop"));
        OPEN.add(made);
        return made;
    }

    /// Closes the folders that are open.
    static void closeAll() {
        for (Scratch each : OPEN) {
            try {
                each.close();
            } catch (IOException e) {
                System.err.println("verbena engines: files are left: " + e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        OPEN.remove(this);
        try (Stream<Path> found = Files.walk(folder)) {
            for (Path each : found.sorted(Comparator.reverseOrder()).toList()) {
                boolean _ = Files.deleteIfExists(each);
            }
        }
    }
}
