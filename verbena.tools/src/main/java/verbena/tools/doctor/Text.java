package verbena.tools.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/// Small files of the kernel.
final class Text {
    private Text() {}

    /// Returns the lines of a file; none when there is no such file, or it may not be read.
    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException _) {
            return List.of();
        }
    }

    /// Returns the number that is all of a file; empty when it is none.
    static OptionalLong number(Path file) {
        List<String> lines = lines(file);
        try {
            return lines.isEmpty()
                    ? OptionalLong.empty()
                    : OptionalLong.of(Long.parseLong(lines.getFirst().strip()));
        } catch (NumberFormatException _) {
            return OptionalLong.empty();
        }
    }
}
