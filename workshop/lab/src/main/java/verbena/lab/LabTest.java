package verbena.lab;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestReporter;

/// The table as tests of JUnit. What a [Runner] reports are entries of the report; their keys are its kinds.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class LabTest {
    /// The folder of the project.
    static final String ROOT = "verbena.root";
    /// The property with the names of the checks to run, a line each.
    static final String NAMES = "verbena.lab.names";

    private static final int BUILD_SECONDS = 600;

    private @Nullable Lab lab;

    /// Finds the lab and builds.
    @BeforeAll
    public void open() throws InterruptedException {
        try {
            lab = Lab.open(Path.of(System.getProperty(ROOT)).toAbsolutePath().normalize());
        } catch (Lab.Absent e) {
            Assumptions.abort(String.valueOf(e.getMessage()));
            return;
        }
        Running version = lab.built(); // outside of the namespace, which has no network
        if (version.await(BUILD_SECONDS) != 0) {
            throw new AssertionError("the build failed: " + String.join("\n", version.lines()));
        }
    }

    /// Ends the guest.
    @AfterAll
    public void close() {
        if (lab != null) {
            lab.close();
        }
    }

    /// Returns the rows that are named; all of them where none is.
    @TestFactory
    public Stream<DynamicTest> checks(TestReporter reporter) {
        var runner = new Runner(Objects.requireNonNull(lab), (kind, text) -> reporter.publishEntry(kind.name(), text));
        Set<String> names = System.getProperty(NAMES, "").lines().collect(Collectors.toSet());
        return Table.checks().stream()
                .filter(check -> names.isEmpty() || names.contains(check.name()))
                .map(check -> DynamicTest.dynamicTest(check.name(), () -> runner.run(check)));
    }
}
