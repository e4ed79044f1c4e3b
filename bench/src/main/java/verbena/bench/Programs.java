package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;

/// Contenders that are programs: a server and a client for each measurement, over TCP on loopback.
final class Programs {
    private static final String LOOPBACK = "127.0.0.1";
    private static final double MEGA = 1 << 20;
    private static final int WARM_UP_SHARE = 10;

    private Programs() {}

    private static List<String> run(Map<String, String> environment, int port, String server, String client)
            throws Exception {
        try (var serving = new Child(List.of(server.split(" ", -1)), environment)) {
            if (!Ports.awaitListener(port, () -> !serving.isAlive())) {
                return serving.result();
            }
            try (var asking = new Child(List.of(client.split(" ", -1)), environment)) {
                return asking.result();
            }
        }
    }

    /// The numbers of the last line that begins like that.
    static double[] numbers(List<String> lines, String begin) {
        return lines.stream()
                .map(String::strip)
                .filter(line -> line.startsWith(begin))
                .reduce((_, last) -> last)
                .map(line -> Stream.of(line.split("\\s+", -1))
                        .skip(1)
                        .map(word -> word.replaceAll("[^0-9.]", ""))
                        .mapToDouble(word -> word.isEmpty() ? 0 : Double.parseDouble(word))
                        .toArray())
                .orElseThrow(() -> new Child.Failed("no line with " + begin + " in: " + String.join(" / ", lines)));
    }

    private static Latency mean(double micros) {
        return new Latency(Double.NaN, micros, Double.NaN, Double.NaN, Double.NaN);
    }

    /// UCX, its TCP transport alone.
    static final class Ucx implements Contender {
        static final String PUT = "UCX put over TCP";
        static final String TAG = "UCX tagged message over TCP";
        private static final Map<String, String> OVER_TCP = Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo");

        @Override
        public List<Entry> start() {
            Contender.need("ucx_perftest", "ucx-utils");
            // Of 1 MiB it is slower than of 64 KiB, and stalls for a second at the end of many a run.
            var put = new Entry(PUT, Bench.LARGE, 2_000, (_, n) -> {
                // Final: iterations, median, average twice, bandwidth twice, rate twice.
                double[] found = run("ucp_put_bw", Bench.LARGE, n);
                return new Result(null, Bench.LARGE, (long) found[0], found[5], found[7] / 1e6, null);
            });
            var tag = new Entry(TAG, Bench.SMALL, 10_000, (_, n) -> {
                double[] found = run("tag_lat", Bench.SMALL, n);
                var latency = new Latency(Double.NaN, found[1], Double.NaN, Double.NaN, Double.NaN);
                return new Result(null, Bench.SMALL, (long) found[0], null, null, latency);
            });
            return List.of(put, tag);
        }

        private static double[] run(String test, int size, long iterations) throws Exception {
            int port = Ports.free();
            String server = "ucx_perftest -p " + port;
            String client = server + " " + LOOPBACK + " -t " + test + " -s " + size + " -n " + iterations + " -w "
                    + iterations / WARM_UP_SHARE;
            return numbers(Programs.run(OVER_TCP, port, server, client), "Final:");
        }

        @Override
        public boolean getsWarm() {
            return false;
        }

        @Override
        public void close() {}
    }

    /// libfabric, its TCP provider. It tells the mean only.
    static final class Libfabric implements Contender {
        @Override
        public List<Entry> start() {
            Contender.need("fi_pingpong", "libfabric-bin");
            return List.of(new Entry("libfabric message over TCP (mean)", Bench.SMALL, 10_000, (_, n) -> {
                int port = Ports.free();
                String options = " -p tcp -e msg -S " + Bench.SMALL + " -I " + n;
                List<String> said = run(
                        Map.of(),
                        port,
                        "fi_pingpong -B " + port + options,
                        "fi_pingpong -P " + port + options + " " + LOOPBACK);
                // bytes, sent, acknowledged, total, time, MB/sec, usec/xfer, Mxfers/sec
                return new Result(null, Bench.SMALL, n, null, null, mean(numbers(said, Bench.SMALL + " ")[5]));
            }));
        }

        @Override
        public boolean getsWarm() {
            return false;
        }

        @Override
        public void close() {}
    }

    /// iperf3: what the kernel's TCP carries.
    static final class Iperf implements Contender {
        static final String STREAM = "iperf3, TCP";

        @Override
        public List<Entry> start() {
            Contender.need("iperf3", "iperf3");
            return List.of(new Entry(STREAM, Bench.LARGE, 10_000, (_, n) -> {
                int port = Ports.free();
                List<String> said = run(
                        Map.of(),
                        port,
                        "iperf3 -s -1 -B " + LOOPBACK + " -p " + port,
                        "iperf3 -c " + LOOPBACK + " -p " + port + " -J -l " + Bench.LARGE + " -n " + n * Bench.LARGE);
                JsonNode sum = Bench.JSON.readTree(String.join("\n", said)).at("/end/sum_received");
                double bytesPerSecond = sum.get("bits_per_second").doubleValue() / 8;
                return new Result(
                        null,
                        Bench.LARGE,
                        sum.get("bytes").longValue() / Bench.LARGE,
                        bytesPerSecond / MEGA,
                        bytesPerSecond / Bench.LARGE / 1e6,
                        null);
            }));
        }

        @Override
        public boolean getsWarm() {
            return false;
        }

        @Override
        public void close() {}
    }
}
