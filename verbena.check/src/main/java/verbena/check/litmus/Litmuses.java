package verbena.check.litmus;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/// The litmus programs that come with Verbena, each in a file of its own.
public final class Litmuses {
    private static final List<String> NAMES = text("index").lines().toList();

    private Litmuses() {}

    /// Returns all, in the order in which a student should read them.
    public static List<Litmus> all() {
        return NAMES.stream().map(Litmuses::read).toList();
    }

    /// Returns the one of this name.
    ///
    /// @throws IllegalArgumentException when there is none
    public static Litmus named(String name) {
        if (!NAMES.contains(name)) {
            throw new IllegalArgumentException("name: no litmus is called '" + name + "', of "
                    + NAMES.stream().collect(Collectors.joining(", ")));
        }
        return read(name);
    }

    private static Litmus read(String name) {
        return LitmusParser.parse(name, text(name + ".litmus"));
    }

    private static String text(String file) {
        try (InputStream in = Litmuses.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
