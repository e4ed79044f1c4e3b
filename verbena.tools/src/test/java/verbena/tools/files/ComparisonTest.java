package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Browser;
import verbena.tools.files.ComparisonReport.Row;
import verbena.tools.files.ComparisonReport.Spread;

/// A comparison for real, and its page in a browser.
@Timeout(120)
class ComparisonTest {
    @TempDir
    private Path folder;

    @Test
    void eachWayBringsTheFileOverAndItsCostsAreMeasured() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/io")), "costs are read from Linux's /proc");
        Path file = folder.resolve("file");
        Comparison.make(file, (5 << 20) + 123);
        List<Way> ways = new ArrayList<>(Way.sockets());
        ways.add(Way.over("rocev2").getFirst());
        ways.add(Way.over("iwarp").getLast());

        ComparisonReport report = new Comparison(ways, file, folder, 1, true, line -> {}).run();

        assertThat(report.rows())
                .extracting(Row::way)
                .containsExactlyElementsOf(ways.stream().map(Way::name).toList());
        assertThat(report.rows()).allSatisfy(row -> {
            assertThat(row.mibPerSecond().median()).isPositive();
            assertThat(row.voluntarySwitches().median()).isPositive();
            // A MiB at a time, read and written, and read and written again.
            assertThat(row.readsAndWrites().median()).isGreaterThan(5);
        });
        assertThat(report.table()).contains("sendfile", "rocev2 WRITE", "iwarp READ", "reasoned, not measured");
        assertThat(folder.resolve("copy")).doesNotExist();
    }

    @Test
    void aSpreadIsMedianLeastAndMost() {
        assertThat(Spread.of(List.of(3.0, 1.0, 2.0), x -> x)).isEqualTo(new Spread(2, 1, 3));
        assertThat(Spread.of(List.of(4.0, 1.0), x -> x)).isEqualTo(new Spread(2.5, 1, 4));
    }

    @Test
    void theBestOfEachKindAreSetSideBySide() {
        assertThat(report().table())
                .contains(
                        "The fastest RDMA (rocev2 WRITE) moves 0.50 times what the fastest socket method (sendfile) does,"
                                + " and takes 3.0 times its processor time.");
    }

    @Test
    void inABrowserThePageHasEveryWayAndNoErrors() throws Exception {
        assertThat(Browser.opened(folder, report().html()))
                .contains("<td class=\"name\">sendfile</td>", "<td class=\"name\">rocev2 WRITE</td>")
                .contains("<h2>How fast</h2>", "The fastest RDMA (rocev2 WRITE) moves 0.50 times")
                .containsPattern("class=\"bar\" title=\"median: 50 MiB/s\" style=\"width: 50%")
                .doesNotContainPattern("(src|href)=");
    }

    private static ComparisonReport report() {
        return new ComparisonReport(
                "A file",
                Map.of("file", "1 MiB"),
                1 << 20,
                List.of(row("sendfile", false, 100, 1), row("rocev2 WRITE", true, 50, 3)));
    }

    private static Row row(String way, boolean isRdma, double rate, double cpu) {
        var part = new Spread(cpu / 4, 0, cpu);
        var some = new Spread(10, 5, 20);
        return new Row(
                way,
                isRdma,
                some,
                new Spread(rate, rate, rate),
                part,
                part,
                part,
                part,
                some,
                some,
                some,
                42L,
                1.0,
                null,
                isRdma ? 6 : 2,
                "a > b",
                "read");
    }
}
