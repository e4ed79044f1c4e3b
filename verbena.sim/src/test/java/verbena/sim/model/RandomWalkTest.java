package verbena.sim.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import verbena.verbs.AsyncEvent;
import verbena.verbs.WcStatus;

/// A1: verbs calls by chance, each compared with the model in what it returns, and in all that follows from it.
///
/// `-Dverbena.seed=N` walks with one seed; `-Dverbena.deep=true` makes ten million calls, `-Dverbena.walk.seconds=N`
/// as many as that time allows.
class RandomWalkTest {
    /// So long that ten thousand seeds are ten million calls.
    private static final int STEPS = 900;
    private static final long SECONDS = Long.getLong("verbena.walk.seconds", 10);
    /// So that all is met that has to be.
    private static final int SEEDS_MIN = 120;
    private static final int DEEP_SEEDS = 10_000;
    private static final long DEEP_CALLS = 10_000_000;
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final Optional<Long> ONLY_SEED = Optional.ofNullable(Long.getLong("verbena.seed"));
    private static final int THREADS = 2;
    private static final long SHORTENING_NANOS = 20_000_000_000L;

    /// What has to have been met, or the walk did not go where it should.
    private static final Set<WcStatus> STATUSES = EnumSet.of(
            WcStatus.SUCCESS,
            WcStatus.LOC_LEN_ERR,
            WcStatus.LOC_QP_OP_ERR,
            WcStatus.LOC_PROT_ERR,
            WcStatus.WR_FLUSH_ERR,
            WcStatus.MW_BIND_ERR,
            WcStatus.REM_INV_REQ_ERR,
            WcStatus.REM_ACCESS_ERR,
            WcStatus.REM_OP_ERR,
            WcStatus.RETRY_EXC_ERR,
            WcStatus.RNR_RETRY_EXC_ERR);

    private static final Set<AsyncEvent.Type> EVENTS = EnumSet.of(
            AsyncEvent.Type.CQ_ERR,
            AsyncEvent.Type.QP_FATAL,
            AsyncEvent.Type.QP_REQ_ERR,
            AsyncEvent.Type.QP_ACCESS_ERR,
            AsyncEvent.Type.COMM_EST,
            AsyncEvent.Type.SQ_DRAINED,
            AsyncEvent.Type.SRQ_LIMIT_REACHED,
            AsyncEvent.Type.QP_LAST_WQE_REACHED);

    /// @param wrong why it ended early
    private record Walked(
            long seed,
            int calls,
            Set<WcStatus> statuses,
            Set<AsyncEvent.Type> events,
            @Nullable Throwable wrong) {}

    @Test
    void whateverIsCalledDeviceAndModelAgree() throws Exception {
        long start = System.nanoTime();
        Collection<Walked> walks = ONLY_SEED.isPresent() ? List.of(walk(ONLY_SEED.get(), all(), null)) : walks(start);
        long calls = 0;
        var statuses = EnumSet.noneOf(WcStatus.class);
        var events = EnumSet.noneOf(AsyncEvent.Type.class);
        for (Walked walked : walks) {
            calls += walked.calls;
            statuses.addAll(walked.statuses);
            events.addAll(walked.events);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "goal A1: %,d verbs calls over %,d seeds as the model says, %,.0f calls per second; %d statuses and %d"
                        + " events met, seed %d, %.1f s%n",
                calls,
                walks.size(),
                calls / seconds,
                statuses.size(),
                events.size(),
                ONLY_SEED.orElse(1L),
                seconds);
        for (Walked walked : walks) {
            if (walked.wrong != null) {
                fail(report(walked));
            }
        }
        if (ONLY_SEED.isEmpty()) {
            assertThat(statuses).containsAll(STATUSES);
            assertThat(events).containsAll(EVENTS);
        }
    }

    private static Collection<Walked> walks(long start) throws Exception {
        var walks = new ConcurrentLinkedQueue<Walked>();
        var seeds = new AtomicLong();
        var calls = new AtomicLong();
        Callable<Boolean> walker = () -> {
            while (isTime(start, seeds.get(), calls.get())) {
                Walked walked = walk(seeds.incrementAndGet(), all(), null);
                walks.add(walked);
                calls.addAndGet(walked.calls);
                if (walked.wrong != null) {
                    return false;
                }
            }
            return true;
        };
        try (var threads = Executors.newFixedThreadPool(THREADS)) {
            for (var done : threads.invokeAll(
                    IntStream.range(0, THREADS).mapToObj(_ -> walker).toList())) {
                done.get();
            }
        }
        return walks;
    }

    private static boolean isTime(long start, long seeds, long calls) {
        return DEEP
                ? seeds < DEEP_SEEDS || calls < DEEP_CALLS
                : seeds < SEEDS_MIN || System.nanoTime() - start < SECONDS * 1_000_000_000L;
    }

    private static List<Integer> all() {
        return IntStream.range(0, STEPS).boxed().toList();
    }

    private static Walked walk(long seed, List<Integer> steps, @Nullable List<String> log) {
        var walk = new RandomWalk(seed, log);
        Throwable wrong = null;
        try {
            steps.forEach(walk::step);
            walk.finish();
        } catch (RuntimeException | AssertionError e) {
            wrong = e;
        }
        Lockstep lockstep = walk.lockstep();
        return new Walked(seed, lockstep.calls(), lockstep.statuses(), lockstep.events(), wrong);
    }

    // ---- what a failure tells

    private static String report(Walked walked) {
        List<Integer> steps = shorten(walked.seed);
        var log = new ArrayList<String>();
        Throwable wrong = walk(walked.seed, steps, log).wrong;
        return "seed " + walked.seed + ": " + (wrong == null ? walked.wrong : wrong) + "\nafter\n"
                + String.join("\n", log)
                + "\nrepeat: mvn -pl verbena.sim -am test -Dtest=RandomWalkTest -Dverbena.seed=" + walked.seed
                + " -Dsurefire.failIfNoSpecifiedTests=false";
    }

    /// As few steps as still go wrong: pieces are left out, large ones first, as long as that is so.
    private static List<Integer> shorten(long seed) {
        long start = System.nanoTime();
        List<Integer> steps = all();
        for (int piece = STEPS / 2; piece > 0; piece /= 2) {
            for (int from = steps.size() - piece; from >= 0; from -= piece) {
                var fewer = new ArrayList<>(steps);
                fewer.subList(from, Math.min(steps.size(), from + piece)).clear();
                if (System.nanoTime() - start < SHORTENING_NANOS
                        && walk(seed, fewer, null).wrong instanceof Disagreement) {
                    steps = fewer;
                    from = Math.min(from, steps.size());
                }
            }
        }
        return steps;
    }
}
