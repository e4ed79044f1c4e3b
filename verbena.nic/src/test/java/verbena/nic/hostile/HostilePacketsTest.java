package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import verbena.nic.GoalRun;
import verbena.transport.PacketFate;

/// Goal H1: whatever arrives, nothing breaks, and no protected byte changes.
class HostilePacketsTest {
    private static final int ATTACKERS = 2;

    @Test
    void nothingThatArrivesBreaksTheDeviceOrTouchesWhatItMayNot() throws Exception {
        long packets = GoalRun.size(1_000_000, 1_000_000_000);
        long seed = GoalRun.seed();
        long started = System.nanoTime();
        var runs = IntStream.range(0, ATTACKERS)
                .mapToObj(i -> new HostileRun(seed + i))
                .toList();
        try (var threads = Executors.newFixedThreadPool(ATTACKERS)) {
            for (Future<Boolean> result : threads.invokeAll(runs.stream()
                    .map(run -> (Callable<Boolean>) () -> {
                        run.attack(packets / ATTACKERS);
                        return true;
                    })
                    .toList())) {
                assertThat(result)
                        .as(GoalRun.repeat(HostilePacketsTest.class, seed))
                        .succeedsWithin(Duration.ofHours(2));
            }
        }
        var fates = new TreeMap<String, Long>();
        for (HostileRun run : runs) {
            for (PacketFate fate : PacketFate.values()) {
                fates.merge(fate.label(), run.counters.get(fate.label()), Long::sum);
            }
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        GoalRun.print(
                "H1",
                packets + " hostile packets in " + Math.round(seconds) + " s from seed " + seed
                        + ": 0 exceptions, 0 protected bytes changed; "
                        + runs.stream().mapToLong(r -> r.completed).sum() + " requests completed, "
                        + runs.stream().mapToLong(r -> r.failed).sum() + " of them with an error, "
                        + runs.stream().mapToLong(r -> r.lives).sum() + " lives of queue pairs, "
                        + runs.stream().mapToLong(r -> r.managed).sum() + " ends of connections asked for, "
                        + count(runs, "keep.alives") + " keep-alives, "
                        + count(runs, "probes") + " probes, "
                        + count(runs, "early.requests") + " requests kept, "
                        + runs.stream().mapToLong(r -> r.full).sum() + " looks at a full window; " + fates);
        assertThat(runs).allSatisfy(run -> {
            assertThat(run.full).as("looks at a full window").isPositive();
            assertThat(run.counters.get("keep.alives")).isPositive();
            assertThat(run.counters.get("probes")).isPositive();
        });
        assertThat(count(runs, "early.requests")).isPositive();
        // An attacker that reads the answers leaves no responses waiting: FatesTest provokes that fate.
        fates.remove(PacketFate.DROPPED_BUSY.label());
        assertThat(fates).allSatisfy((name, count) -> assertThat(count).as(name).isPositive());
    }

    private static long count(List<HostileRun> runs, String counter) {
        return runs.stream().mapToLong(run -> run.counters.get(counter)).sum();
    }
}
