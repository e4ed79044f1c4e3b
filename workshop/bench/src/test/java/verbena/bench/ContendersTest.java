package verbena.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.report.Result;

/// Measures each contender once, briefly: that there is a figure, not which.
class ContendersTest {
    private static final double SECONDS = 0.01;

    @ParameterizedTest
    @ValueSource(strings = {"udp", "tcp", "unix", "netty", "grpc"})
    void aPairOfJavaIsMeasured(String kind) throws Exception {
        assumeTrue(!kind.equals("udp") || System.getProperty("os.name").equals("Linux"), "system calls of Linux");
        try (var pair = new JavaPair(kind)) {
            measureAll(pair);
        }
    }

    @Test
    void rawUdpCountsTheFourKibibytesOfEachPacket() throws Exception {
        assumeTrue(System.getProperty("os.name").equals("Linux"), "system calls of Linux");
        try (var pair = new JavaPair("udp")) {
            Entry stream = pair.start().getFirst();
            stream.measure(SECONDS, true);
            Result result = stream.results.getFirst();
            double bytesPerSecond = Objects.requireNonNull(result.bandwidthMBps()) * (1 << 20);
            double packetsPerSecond = Objects.requireNonNull(result.messageRateMpps()) * 1e6;
            // Both have come as JSON, with six digits: each may be wrong by 0.0005 %.
            assertThat(bytesPerSecond / packetsPerSecond).isCloseTo(4096, withinPercentage(0.0011));
        }
    }

    @Test
    void verbenaIsMeasured() throws Exception {
        try (var pair = VerbenaPair.overLoopback()) {
            for (Entry entry : pair.start()) {
                if (entry.size != Sizes.HUGE && !entry.series.equals(VerbenaPair.MANY)) {
                    measure(entry);
                }
            }
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "verbena.deep", matches = "true", disabledReason = "takes 5 s")
    void connectionsAreMade() throws Exception {
        try (var pair = new ConnectionsPair("shm")) {
            measureAll(pair);
            assertThat(pair.memory()).hasSize(2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucx", "libfabric", "iperf", "ucx in memory", "libfabric in memory"})
    void aProgramIsMeasured(String name) throws Exception {
        try (Contender contender = switch (name) {
            case "ucx" -> Programs.ucxOverTcp();
            case "libfabric" -> Programs.libfabricOverTcp();
            case "iperf" -> Programs.iperf();
            case "ucx in memory" -> Programs.ucxInMemory();
            default -> Programs.libfabricInMemory();
        }) {
            measureAll(contender);
        }
    }

    @Test
    void whatIsNotInstalledIsNamedWithItsPackage() {
        assertThatThrownBy(() -> Contender.need("no_such_program", "some-package"))
                .isInstanceOf(Child.Failed.class)
                .hasMessage("no_such_program is not installed (Debian: apt-get install some-package)");
    }

    /// Skips the test where a program of it is not installed.
    static void measureAll(Contender contender) throws Exception {
        List<Entry> entries;
        try {
            entries = contender.start();
        } catch (Child.Failed e) {
            abort(e.getMessage());
            return;
        }
        for (Entry entry : entries) {
            if (entry.size != Sizes.HUGE) {
                measure(entry);
            }
        }
    }

    private static void measure(Entry entry) throws Exception {
        entry.measure(SECONDS, true);
        Result result = entry.results.getFirst();
        assertThat(result.series()).isEqualTo(entry.series);
        assertThat(result.size()).isEqualTo(entry.size);
        assertThat(result.latencyUs() != null ? result.latencyUs().p50() : result.messageRateMpps())
                .as(entry.toString())
                .isGreaterThan(0.0);
    }
}
