package verbena.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import verbena.tools.report.Report;
import verbena.tools.report.Result;

/// The report of `bench shm`, from what programs print to its goals.
class ShmBenchTest {
    private static final List<String> PUT_BANDWIDTH = """
            +--------------+--------------+------------------------------+---------------------+-----------------------+
            |              |              |       overhead (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
            |    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
            +--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
            Final:                 20000      1.402     1.349     1.349    46325.43   46300.00      741207      741207
            """.lines().toList();
    private static final List<String> PUT_LATENCY = List.of(
            "Final:                100000      0.300     0.063     0.063      121.24     121.24    15890525    15890525");
    private static final List<String> BACK_AND_FORTH = """
            bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
            64k     5k      =5k      625m        0.08s   8388.61       7.64       0.13
            """.lines().toList();

    private final List<Entry> entries = new ArrayList<>();

    @Test
    void theReportHasEachFigureAndEachGoal() {
        entry(VerbenaPair.WRITE, Sizes.LARGE, bandwidth(40_000), bandwidth(30_000), bandwidth(50_000));
        entry("UCX put, sysv", Sizes.LARGE, bandwidth(20_000), bandwidth(20_000), bandwidth(20_000));
        entry("UCX put, posix", Sizes.LARGE, Programs.ucxResult(PUT_BANDWIDTH, Sizes.LARGE, false));
        entry("libfabric message", Sizes.LARGE, Programs.libfabricResult(BACK_AND_FORTH, Sizes.LARGE, 5_000));
        entry(Memcpy.NAME, Sizes.LARGE, bandwidth(50_000));
        entry(VerbenaPair.WRITE, Sizes.SMALL, Programs.latency(Sizes.SMALL, 1, 0.27));
        entry("UCX put, posix", Sizes.SMALL, Programs.ucxResult(PUT_LATENCY, Sizes.SMALL, true));
        entry(VerbenaPair.BATCHES, Sizes.SMALL, Figures.stream(Sizes.SMALL, 12_500_000, 1));
        entry(ConnectionsPair.CONNECT, 0, Programs.latency(0, 1, 5_053), Programs.latency(0, 1, 90));
        Goals goals = Goals.inMemory(entries, new Costs(List.of(0.0), List.of(0.2), List.of(7_000.0, 20_000.0)));
        var facts = new LinkedHashMap<>(Map.of("processor", "2 usable cores"));

        String text = Table.text(new Report("Side by side", facts, goals.known, List.of()), entries);
        assertThat(text.replaceAll("(\\S) {2,}", "$1  ")).isEqualToNormalizingNewlines("""
                        processor  2 usable cores

                        Bandwidth, MB/s (2^20 bytes), 64 KiB
                          Verbena WRITE  40,000  (30,000 to 50,000)
                          UCX put, sysv  20,000  (20,000 to 20,000)
                          UCX put, posix  46,300  (46,300 to 46,300)
                          libfabric message  8,000  (8,000 to 8,000)
                          memcpy by one thread  50,000  (50,000 to 50,000)

                        Latency one way, us (medians), 8 B
                          Verbena WRITE  0.270  (0.270 to 0.270)
                          UCX put, posix  0.300  (0.300 to 0.300)

                        Messages, million/s, 8 B
                          Verbena WRITE in batches  12.5  (12.5 to 12.5)

                        Connections one after the other, us each (medians)
                          Verbena connect  2,572  (90.0 to 5,053)

                        Goals
                          WRITE, 8 B, latency over that of UCX's best put  0.900 x  <= 1  reached  (0.900 to 0.900)
                          a connection made  2,572 us  <= 100  MISSED  (90.0 to 5,053)
                          WRITE, 64 KiB, over UCX's best put  0.864 x  >= 1  MISSED  (0.864 to 0.864)
                          WRITE, 64 KiB, over memcpy by one thread  0.800 x  >= 0.8  reached  (0.800 to 0.800)
                          8-byte WRITEs in batches  12.5 million/s  >= 10  reached  (12.5 to 12.5)
                          allocated for each WRITE, by both ends  0 B  <= 0.1  reached  (0 to 0)
                          a process with 100 idle connections  0.200 % of a core <= 1  reached  (0.200 to 0.200)
                          an idle connection, at its dearer end  13,500 B  <= 16,384 reached  (7,000 to 20,000)
                        """);
        assertThat(goals.unknown).hasSize(10).contains("FETCH_ADD, there and back");
    }

    private void entry(String series, int size, Result... results) {
        var entry = new Entry(series, size, 1, (_, _) -> results[0]);
        entry.results.addAll(List.of(results));
        entries.add(entry);
    }

    private static Result bandwidth(double megabytes) {
        return Programs.bandwidth(Sizes.LARGE, 1, megabytes);
    }
}
