package verbena.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// A contender of the comparison: its processes and its figures.
interface Contender extends AutoCloseable {
    /// Returns its name in messages of failures.
    String name();

    /// Starts the processes that run throughout; returns the entries to measure, one at a time.
    ///
    /// @throws Child.Failed when something is missing; the message says what to install
    List<Entry> start() throws Exception;

    /// Returns whether its processes stay from round to round, and get faster while their virtual machines compile.
    default boolean getsWarm() {
        return true;
    }

    @Override
    void close();

    /// @throws Child.Failed when there is no such program
    static void need(String program, String debianPackage) {
        boolean found = Arrays.stream(System.getenv("PATH").split(":", -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
        if (!found) {
            throw new Child.Failed(program + " is not installed (Debian: apt-get install " + debianPackage + ")");
        }
    }
}
