package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;
import verbena.tools.report.Steady;

/// The cost of waiting: messages of 8 bytes to and fro between two processes, compared with a blocking TCP socket.
/// On all cores, on one, and with as many busy threads as there are cores. It judges
/// `verbena.nic.engine.SpinPolicy`.
///
/// All contenders take turns. They warm up in rounds like those that count, each with a connection of its own: the
/// second connection of a process runs other code than the first, and compiles it.
public final class Waiting {
    private static final List<String> REGIMES = List.of("cores", "one", "busy");
    private static final int ROUNDS = 5;
    private static final double SECONDS = 0.4;
    private static final double WARM_UP_SECONDS = 0.2;
    /// The longest warm-up. On one processor, the compilers share it with the code that they compile.
    private static final long WARM_UP_NANOS_MAX = 50_000_000_000L;
    private static final String DEVICE = "rocev2";

    private final Map<String, List<Latency>> found = new LinkedHashMap<>();
    private final Map<String, List<Double>> left = new LinkedHashMap<>();
    private String words = "";

    private Waiting() {}

    /// @param args the regimes, all of them by default: `cores`, `one`, `busy`
    public static void main(String[] args) throws Exception {
        for (String regime : args) {
            if (!REGIMES.contains(regime)) {
                System.err.println("verbena bench waiting: " + REGIMES + " are there, got " + regime);
                System.exit(2);
            }
        }
        for (String regime : args.length == 0 ? REGIMES : List.of(args)) {
            new Waiting().measure(regime);
        }
        System.exit(0);
    }

    private void measure(String regime) throws Exception {
        List<String> before = regime.equals("one") ? List.of("taskset", "-c", "0") : List.of();
        int neighbours = regime.equals("busy") ? Runtime.getRuntime().availableProcessors() : 0;
        var children = new ArrayList<Child>();
        try (Neighbours busy = Neighbours.start(neighbours)) {
            var ends = new LinkedHashMap<String, Ends>();
            Ends tcp = tcp(children, before);
            ends.put("a blocking TCP socket", tcp);
            for (AwaitEnd.Way way : AwaitEnd.Way.values()) {
                if (way != AwaitEnd.Way.POLL || regime.equals("cores")) {
                    ends.put("Verbena, " + way.name().toLowerCase(Locale.ROOT), verbena(children, before, way));
                }
            }
            words = warmUp(ends.values(), children, busy);
            for (int round = 0; round < ROUNDS; round++) {
                for (var entry : ends.entrySet()) {
                    busy.go();
                    found.computeIfAbsent(entry.getKey(), _ -> new ArrayList<>())
                            .add(entry.getValue().exchange(SECONDS));
                    left.computeIfAbsent(entry.getKey(), _ -> new ArrayList<>()).add(busy.stop());
                }
            }
        } finally {
            children.forEach(Child::close);
        }
        print(regime);
    }

    /// Measures until all figures are stable, and their compilers have little to do. Returns a description.
    private static String warmUp(Collection<Ends> ends, List<Child> children, Neighbours busy) throws Exception {
        var steady = new Steady(ends.size(), WARM_UP_NANOS_MAX);
        long start = System.nanoTime();
        boolean over = false;
        while (!over) {
            var figures = new ArrayList<Double>();
            for (Ends each : ends) {
                busy.go();
                figures.add(each.exchange(WARM_UP_SECONDS).p50());
                double _ = busy.stop();
            }
            long compiled = 0;
            for (Child child : children) {
                Workers.order(child, Worker.COMPILED);
                compiled = Math.max(
                        compiled,
                        Workers.answer(child, JsonNode.class).get("millis").longValue());
            }
            over = steady.add(
                    System.nanoTime() - start,
                    TimeUnit.MILLISECONDS.toNanos(compiled),
                    figures.stream().mapToDouble(Double::doubleValue).toArray());
        }
        return steady.words();
    }

    private interface Ends {
        Latency exchange(double seconds) throws Exception;
    }

    private static Ends tcp(List<Child> children, List<String> before) throws Exception {
        Child server = started(children, "tcp", before);
        Child client = started(children, "tcp", before);
        Workers.order(server, "listen", 0);
        String port = Workers.answer(server, JsonNode.class).get("port").textValue();
        return seconds -> {
            Workers.order(client, "pingpong", port, Sizes.SMALL, seconds);
            return latency(client);
        };
    }

    private static Ends verbena(List<Child> children, List<String> before, AwaitEnd.Way way) throws Exception {
        Child server = started(children, "await", before);
        Child client = started(children, "await", before);
        Workers.order(server, "listen", DEVICE);
        String address = Workers.answer(server, JsonNode.class).get("address").textValue();
        return seconds -> {
            Workers.order(server, "serve", DEVICE, way);
            Workers.answer(server, JsonNode.class);
            Workers.order(client, "pingpong", DEVICE, way, address, Sizes.SMALL, seconds);
            return latency(client);
        };
    }

    private static Child started(List<Child> children, String kind, List<String> before) throws Exception {
        Child child = Workers.start(kind, before);
        children.add(child);
        return child;
    }

    private static Latency latency(Child client) throws Exception {
        Latency latency = Workers.answer(client, Result.class).latencyUs();
        if (latency == null) {
            throw new Child.Failed("no latency");
        }
        return latency;
    }

    private void print(String regime) {
        System.out.printf(
                "%n%s; warm-up: %s%n",
                switch (regime) {
                    case "one" -> "One core";
                    case "busy" -> "All cores, with as many busy threads beside";
                    default -> "All cores";
                },
                words);
        System.out.printf("  %-28s %9s %9s   %s%n", "8 bytes one way, us", "median", "p99", "medians of rounds");
        double[] besideTcp = steps(left.values().iterator().next());
        found.forEach((name, rounds) -> {
            double[] p50 = rounds.stream().mapToDouble(Latency::p50).sorted().toArray();
            double[] p99 = rounds.stream().mapToDouble(Latency::p99).sorted().toArray();
            System.out.printf(
                    Locale.ROOT,
                    "  %-28s %9.1f %9.1f   %.1f to %.1f%s%n",
                    name,
                    Medians.of(p50),
                    Medians.of(p99),
                    p50[0],
                    p50[p50.length - 1],
                    regime.equals("busy") ? neighbours(Medians.of(steps(left.get(name))) / Medians.of(besideTcp)) : "");
        });
    }

    private static double[] steps(List<Double> rounds) {
        return rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    }

    private static String neighbours(double share) {
        return String.format(Locale.ROOT, "; the busy threads get %.2f of what they get beside TCP", share);
    }
}
