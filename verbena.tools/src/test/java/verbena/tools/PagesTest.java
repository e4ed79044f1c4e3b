package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.files.ComparisonReport;
import verbena.tools.files.ComparisonReport.Row;
import verbena.tools.files.ComparisonReport.Spread;
import verbena.tools.report.Distribution;
import verbena.tools.report.Goal;
import verbena.tools.report.Latency;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;
import verbena.tools.report.Result;
import verbena.tools.report.Timeline;

/// All pages that commands write, in a browser: no error, light and dark, also on a phone.
@Timeout(120)
class PagesTest {
    @TempDir
    private Path folder;

    @Test
    void everyPageCanBeReadInLightAndDarkAndOnAPhone() throws Exception {
        Map<String, String> pages = pages();
        List<String> findings = Browser.findings(folder, pages);

        assertThat(findings).containsExactly(4 * pages.size() + " looked at");
    }

    private Map<String, String> pages() throws Exception {
        var pages = new LinkedHashMap<String, String>();
        pages.put("bench", sideBySide().html());
        pages.put("sizes", new Report("perf write-lat", Machine.facts(), sizes()).html());
        pages.put(
                "bandwidth",
                new Report("perf write-bw", Machine.facts(), List.of(bandwidth(null, 30_000_000L))).html());
        var two = List.of(bandwidth("rocev2", 30_000_000L), bandwidth("shm", 90_000_000L));
        pages.put("bandwidths", new Report("perf write-bw", Machine.facts(), two).html());
        pages.put("latency", new Report("perf write-lat", Machine.facts(), List.of(latency())).html());
        pages.put("compare", comparison().html());
        Path story = folder.resolve("story.html");
        assertThat(Cli.run("explain", "lost-packet", "--rehearse", "0", "--html", story.toString())
                        .status())
                .isZero();
        pages.put("explain", Files.readString(story));
        Path network = folder.resolve("network.html");
        assertThat(Cli.run("network", "run", "pfc-deadlock", "--html", network.toString())
                        .status())
                .isZero();
        pages.put("network", Files.readString(network));
        Path litmus = folder.resolve("litmus.html");
        assertThat(Cli.run("check", "litmus", "seqlock", "--runs", "2", "--html", litmus.toString())
                        .status())
                .isZero();
        pages.put("litmus", Files.readString(litmus));
        return pages;
    }

    private static Report sideBySide() {
        var goals = List.of(
                new Goal("WRITE of 64 KiB by UCX put over TCP, whatever else", "x", 3.13, 1.44, 3.87, 1.5, false, true),
                new Goal("8 bytes by UCX tagged over TCP", "x", 1.28, 1.12, 1.4, 1, true, false));
        var results = new ArrayList<Result>();
        for (String name : List.of("Verbena WRITE", "Verbena iWARP WRITE without CRC", "raw UDP, GSO and GRO")) {
            results.add(new Result(name, 65_536, 10_000, 1_000.0 + results.size(), 0.02, null));
            results.add(new Result(name, 8, 10_000, null, null, new Latency(4, 5.2, 12, 80, 900)));
        }
        return new Report("Side by side", Machine.facts(), goals, results);
    }

    private static List<Result> sizes() {
        return IntStream.rangeClosed(1, 23)
                .mapToObj(power -> new Result(
                        null,
                        1L << power,
                        1_000,
                        power * power * 5.0,
                        20.0 / power,
                        new Latency(power, power + 1, power * 1.5, power * 4, power * power)))
                .toList();
    }

    private static Result bandwidth(@Nullable String series, long bytesEach) {
        long[] nanos =
                IntStream.rangeClosed(0, 100).mapToLong(i -> i * 23_000_000L).toArray();
        long[] bytes = IntStream.rangeClosed(0, 100)
                .mapToLong(i -> i * bytesEach + i % 7 * 900_000L)
                .toArray();
        return new Result(series, 65_536, 45_000, 1_244.0, null, 0.02, null, Timeline.ofBytes(nanos, bytes), null);
    }

    private static Result latency() {
        long[] nanos = IntStream.range(0, 10_000)
                .mapToLong(i -> 10_000 + 2_000 * (i % 13) + (i % 997 == 0 ? 900_000 : 0))
                .toArray();
        double[] us = IntStream.range(0, nanos.length)
                .mapToDouble(i -> nanos[i] / 2e3)
                .toArray();
        return new Result(
                null,
                2,
                10_000,
                null,
                null,
                null,
                new Latency(5, 11, 17, 300, 467),
                Timeline.ofTimes(nanos, 1e-3 / 2),
                Distribution.of(us));
    }

    private static ComparisonReport comparison() {
        var rows = new ArrayList<Row>();
        for (String way : List.of("sendfile", "read and write, 64 KiB", "rocev2", "iwarp")) {
            var spread = new Spread(1 + rows.size(), 0.5, 6);
            rows.add(new Row(
                    way,
                    rows.size() > 1,
                    spread,
                    new Spread(900, 700, 1_100),
                    spread,
                    spread,
                    spread,
                    spread,
                    spread,
                    spread,
                    spread,
                    12_345L,
                    256.0,
                    12.5,
                    2 + rows.size(),
                    "page cache, slot, packet, socket, slot, page cache",
                    "a call for each row of packets"));
        }
        return new ComparisonReport("A file between two processes, by each method", Machine.facts(), 1 << 28, rows);
    }
}
