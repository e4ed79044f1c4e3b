package verbena.sim.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// A1: verbs calls by chance, each compared with the model in what it returns, and in all that follows from it.
///
/// `-Dverbena.seed=N` walks with one seed; `-Dverbena.deep=true` makes ten million calls.
class RandomWalkTest {
    private static final int STEPS = 1_500;
    private static final long SECONDS = Long.getLong("verbena.walk.seconds", 40);
    private static final int DEEP_SEEDS = 10_000;
    private static final long DEEP_CALLS = 10_000_000;
    private static final long SEED = Long.getLong("verbena.seed", 0);
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final int THREADS = 2;
    private static final long SHORTENING_NANOS = 20_000_000_000L;

    /// A seed and what went wrong with it.
    private record Failure(long seed, Throwable cause) {}

    @Test
    void whateverIsCalledDeviceAndModelAgree() throws Exception {
        long start = System.nanoTime();
        var nextSeed = new AtomicLong(SEED == 0 ? 1 : SEED);
        var seeds = new AtomicLong();
        var calls = new AtomicLong();
        var failure = new AtomicReference<@Nullable Failure>();
        try (var threads = Executors.newFixedThreadPool(THREADS)) {
            Callable<Boolean> walker = () -> {
                while (failure.get() == null && isTime(start, seeds.get(), calls.get())) {
                    long seed = nextSeed.getAndIncrement();
                    calls.addAndGet(walk(seed, failure));
                    seeds.incrementAndGet();
                    if (SEED != 0) {
                        return true;
                    }
                }
                return true;
            };
            for (var done : threads.invokeAll(IntStream.range(0, SEED == 0 ? THREADS : 1)
                    .mapToObj(_ -> walker)
                    .toList())) {
                assertThat(done.get()).isTrue();
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                "A1 random walk: %,d verbs calls over %,d seeds from %d on, %,.0f calls per second, all as the model"
                        + " says%n",
                calls.get(), seeds.get(), SEED == 0 ? 1 : SEED, calls.get() / seconds);
        Failure found = failure.get();
        if (found != null) {
            fail(report(found));
        }
        assertThat(calls.get()).isPositive();
    }

    private static boolean isTime(long start, long seeds, long calls) {
        return DEEP ? seeds < DEEP_SEEDS || calls < DEEP_CALLS : System.nanoTime() - start < SECONDS * 1_000_000_000L;
    }

    private static int walk(long seed, AtomicReference<@Nullable Failure> failure) {
        var walk = new RandomWalk(seed, null);
        try {
            for (int step = 0; step < STEPS; step++) {
                walk.step(step);
            }
            walk.finish();
        } catch (RuntimeException | AssertionError e) {
            failure.compareAndSet(null, new Failure(seed, e));
        }
        return walk.calls();
    }

    // ---- what a failure tells

    private static String report(Failure failure) {
        List<Integer> steps = shorten(failure.seed);
        var log = new ArrayList<String>();
        Throwable cause = outcome(failure.seed, steps, log);
        return "seed " + failure.seed + ": " + (cause == null ? failure.cause : cause) + "\nafter\n"
                + String.join("\n", log)
                + "\nrepeat: mvn -pl verbena.sim -am test -Dtest=RandomWalkTest -Dverbena.seed=" + failure.seed
                + " -Dsurefire.failIfNoSpecifiedTests=false";
    }

    /// As few steps as still go wrong: pieces are left out, large ones first, as long as that is so.
    private static List<Integer> shorten(long seed) {
        long start = System.nanoTime();
        var steps = new ArrayList<>(IntStream.range(0, STEPS).boxed().toList());
        for (int piece = STEPS / 2; piece > 0; piece /= 2) {
            for (int from = steps.size() - piece; from >= 0; from -= piece) {
                var fewer = new ArrayList<>(steps);
                fewer.subList(from, Math.min(steps.size(), from + piece)).clear();
                if (System.nanoTime() - start < SHORTENING_NANOS
                        && outcome(seed, fewer, null) instanceof Disagreement) {
                    steps = fewer;
                    from = Math.min(from, steps.size());
                }
            }
        }
        return steps;
    }

    private static @Nullable Throwable outcome(long seed, List<Integer> steps, @Nullable List<String> log) {
        var walk = new RandomWalk(seed, log);
        try {
            steps.forEach(walk::step);
            walk.finish();
            return null;
        } catch (RuntimeException | AssertionError e) {
            return e;
        }
    }
}
