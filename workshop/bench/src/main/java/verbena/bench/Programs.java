package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;

/// Contenders that are programs: a server and a client for each measurement, on loopback or in shared memory.
final class Programs {
    static final String PUT_OVER_TCP = "UCX put over TCP";
    static final String TAG_OVER_TCP = "UCX tagged message over TCP";
    /// The beginning of the names of UCX's entries in shared memory.
    static final String PUT = "UCX put, ";

    static final String GET = "UCX get, ";
    static final String TAG = "UCX tagged message, ";
    static final String ACTIVE = "UCX active message, ";
    static final String ACTIVE_OVER_TCP = "UCX active message over TCP";
    static final String STREAM = "iperf3, TCP";

    private static final String LOOPBACK = "127.0.0.1";
    private static final double MEGA = 1 << 20;
    /// The megabyte of libfabric.
    private static final double DECIMAL_MEGA = 1e6;
    private static final int WARM_UP_SHARE = 10;
    private static final long FIRST_LARGE = 2_000;
    private static final long FIRST_SMALL = 10_000;

    private Programs() {}

    /// @param program what has to be installed, from a Debian package
    private record Program(String name, String program, String debianPackage, List<Entry> entries)
            implements Contender {
        @Override
        public List<Entry> start() {
            Contender.need(program, debianPackage);
            return entries;
        }

        @Override
        public boolean getsWarm() {
            return false;
        }

        @Override
        public void close() {}
    }

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

    /// Returns the numbers of the last line with this beginning.
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

    static Result latency(long size, long messages, double micros) {
        return new Result(
                null, size, messages, null, null, new Latency(Double.NaN, micros, Double.NaN, Double.NaN, Double.NaN));
    }

    static Result bandwidth(long size, long messages, double megabytes) {
        return new Result(null, size, messages, megabytes, megabytes * MEGA / size / 1e6, null);
    }

    // ---- UCX

    static Contender ucxOverTcp() {
        Map<String, String> overTcp = Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo");
        return ucx(List.of(
                // With 1 MiB it is slower than with 64 KiB, and many runs stall for a second at the end.
                ucx(PUT_OVER_TCP, Sizes.LARGE, overTcp, "ucp_put_bw"),
                ucx(TAG_OVER_TCP, Sizes.SMALL, overTcp, "tag_lat")));
    }

    /// Returns UCX between two processes of this host. It puts and gets in memory that both have mapped, which
    /// POSIX or System V shares. Of large messages, the receiver copies the sender's memory, by cma:
    /// process_vm_readv(2).
    static Contender ucxInMemory() {
        var entries = new ArrayList<Entry>();
        for (String way : List.of("posix", "sysv")) {
            Map<String, String> over = Map.of("UCX_TLS", way);
            entries.add(ucx(PUT + way, Sizes.SMALL, over, "ucp_put_lat"));
            entries.add(ucx(TAG + way, Sizes.SMALL, over, "tag_lat"));
            for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
                entries.add(ucx(PUT + way, size, over, "ucp_put_bw"));
                entries.add(ucx(GET + way, size, over, "ucp_get"));
            }
        }
        for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
            entries.add(ucx(TAG + "cma", size, Map.of("UCX_TLS", "posix,cma"), "tag_bw"));
        }
        return ucx(entries);
    }

    /// Returns the messages of UCX, in memory and over TCP. Of large messages in memory, the sender copies through
    /// memory that both have mapped, or the receiver copies by cma.
    static Contender ucxMessages() {
        var entries = new ArrayList<Entry>();
        for (String way : List.of("posix", "sysv", "cma")) {
            Map<String, String> over = Map.of("UCX_TLS", way.equals("cma") ? "posix,cma" : way);
            if (!way.equals("cma")) {
                entries.add(ucx(TAG + way, Sizes.SMALL, over, "tag_lat"));
                entries.add(ucx(ACTIVE + way, Sizes.SMALL, over, "ucp_am_lat"));
            }
            for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
                entries.add(ucx(TAG + way, size, over, "tag_bw"));
                entries.add(ucx(ACTIVE + way, size, over, "ucp_am_bw"));
            }
        }
        Map<String, String> overTcp = Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo");
        entries.add(ucx(TAG_OVER_TCP, Sizes.SMALL, overTcp, "tag_lat"));
        entries.add(ucx(ACTIVE_OVER_TCP, Sizes.SMALL, overTcp, "ucp_am_lat"));
        entries.add(ucx(TAG_OVER_TCP, Sizes.LARGE, overTcp, "tag_bw"));
        entries.add(ucx(ACTIVE_OVER_TCP, Sizes.LARGE, overTcp, "ucp_am_bw"));
        return ucx(entries);
    }

    private static Contender ucx(List<Entry> entries) {
        return new Program("UCX", "ucx_perftest", "ucx-utils", entries);
    }

    private static Entry ucx(String series, int size, Map<String, String> environment, String test) {
        boolean isLatency = test.endsWith("_lat");
        return new Entry(series, size, isLatency ? FIRST_SMALL : FIRST_LARGE, (_, n) -> {
            int port = Ports.free();
            String server = "ucx_perftest -p " + port;
            String client =
                    server + " " + LOOPBACK + " -t " + test + " -s " + size + " -n " + n + " -w " + n / WARM_UP_SHARE;
            return ucxResult(run(environment, port, server, client), size, isLatency);
        });
    }

    static Result ucxResult(List<String> lines, int size, boolean isLatency) {
        // Final: iterations, median, average twice, bandwidth twice, rate twice.
        double[] found = numbers(lines, "Final:");
        return isLatency ? latency(size, (long) found[0], found[1]) : bandwidth(size, (long) found[0], found[5]);
    }

    // ---- libfabric: it prints the mean only

    static Contender libfabricOverTcp() {
        return libfabric(libfabric("libfabric message over TCP (mean)", Sizes.SMALL, "-p tcp -e msg"));
    }

    static Contender libfabricInMemory() {
        return libfabric(
                libfabric("libfabric message, shm (mean)", Sizes.SMALL, "-p shm -e rdm"),
                libfabric("libfabric message, shm, back and forth", Sizes.LARGE, "-p shm -e rdm"));
    }

    private static Contender libfabric(Entry... entries) {
        return new Program("libfabric", "fi_pingpong", "libfabric-bin", List.of(entries));
    }

    private static Entry libfabric(String series, int size, String provider) {
        return new Entry(series, size, size == Sizes.SMALL ? FIRST_SMALL : FIRST_LARGE, (_, n) -> {
            int port = Ports.free();
            String options = " " + provider + " -S " + size + " -I " + n;
            List<String> said = run(
                    Map.of(),
                    port,
                    "fi_pingpong -B " + port + options,
                    "fi_pingpong -P " + port + options + " " + LOOPBACK);
            return libfabricResult(said, size, n);
        });
    }

    static Result libfabricResult(List<String> lines, int size, long messages) {
        // bytes, sent, acknowledged, total, time, MB/sec, usec/xfer, Mxfers/sec
        double[] found = numbers(lines, size == Sizes.LARGE ? "64k " : size + " ");
        return size == Sizes.LARGE
                ? bandwidth(size, messages, found[4] * DECIMAL_MEGA / MEGA)
                : latency(size, messages, found[5]);
    }

    // ---- iperf3: the throughput of the kernel's TCP

    static Contender iperf() {
        var entry = new Entry(STREAM, Sizes.LARGE, 10_000, (_, n) -> {
            int port = Ports.free();
            List<String> said = run(
                    Map.of(),
                    port,
                    "iperf3 -s -1 -B " + LOOPBACK + " -p " + port,
                    "iperf3 -c " + LOOPBACK + " -p " + port + " -J -l " + Sizes.LARGE + " -n " + n * Sizes.LARGE);
            JsonNode sum = Workers.JSON.readTree(String.join("\n", said)).at("/end/sum_received");
            return bandwidth(
                    Sizes.LARGE,
                    sum.get("bytes").longValue() / Sizes.LARGE,
                    sum.get("bits_per_second").doubleValue() / 8 / MEGA);
        });
        return new Program("iperf3", "iperf3", "iperf3", List.of(entry));
    }
}
