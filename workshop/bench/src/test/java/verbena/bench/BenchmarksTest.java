package verbena.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine;

/// Every build compiles the benchmarks; this test runs them too.
class BenchmarksTest {
    /// The launcher has a copy of the help, which it shows without building anything.
    @Test
    void theHelpOfTheLauncherNamesEachOptionOfBench() throws Exception {
        String launcher = Files.readString(Path.of(System.getProperty("verbena.root"), ".dev", "help", "bench.txt"));

        assertThat(new CommandLine(Bench.class).getCommandSpec().options())
                .hasSizeGreaterThan(3)
                .filteredOn(option -> !option.hidden())
                .allSatisfy(option -> assertThat(launcher).contains(option.longestName() + " "));
    }

    @Test
    @EnabledIfSystemProperty(named = "verbena.deep", matches = "true", disabledReason = "deep: runs every benchmark")
    void eachBenchmarkRunsWithEachOfItsParameters() throws Exception {
        System.setProperty("jmh.ignoreLock", "true"); // figures do not matter here, so another JMH does no harm
        var options = new OptionsBuilder()
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(20))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT)
                .build();

        Collection<RunResult> results = new Runner(options).run();

        assertThat(results)
                .allSatisfy(result -> assertThat(result.getPrimaryResult().getScore())
                        .as(result.getParams().toString())
                        .isPositive());
        assertThat(results.stream()
                        .map(result -> result.getParams().getBenchmark())
                        .collect(Collectors.toSet()))
                .isEqualTo(all());
    }

    private static Set<String> all() {
        return BenchmarkList.defaultList()
                .getAll(OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT), List.of())
                .stream()
                .map(BenchmarkListEntry::getUsername)
                .collect(Collectors.toSet());
    }
}
