package verbena.sim.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.verbs.WcStatus;

/// A1 over shared memory: the same walk as in [RandomWalkTest], by packets and without. The model knows nothing of
/// either way. So whatever a request without packets does, packets would have done.
///
/// `-Dverbena.seed=N` walks with one seed.
@EnabledOnOs(value = OS.LINUX, disabledReason = "memory files")
class SharedMemoryWalkTest {
    private static final Optional<Long> ONLY_SEED = Optional.ofNullable(Long.getLong("verbena.seed"));
    private static final int SEEDS = Boolean.getBoolean("verbena.deep") ? 3_000 : 4;

    private static final EnumSet<WcStatus> STATUSES = EnumSet.of(
            WcStatus.SUCCESS,
            WcStatus.LOC_LEN_ERR,
            WcStatus.LOC_PROT_ERR,
            WcStatus.WR_FLUSH_ERR,
            WcStatus.REM_INV_REQ_ERR,
            WcStatus.REM_ACCESS_ERR,
            WcStatus.RETRY_EXC_ERR);

    private long direct;
    private long messages;

    private RandomWalk begin(long seed, @Nullable List<String> log) {
        var world = new SharedMemoryWorld(seed, RandomWalk.faults(seed), (requests, told) -> {
            direct += requests;
            messages += told;
        });
        return RandomWalk.shared(world, seed, log);
    }

    @Test
    void whateverIsCalledDeviceAndModelAgreeOverSharedMemory() {
        long start = System.nanoTime();
        long calls = 0;
        var statuses = EnumSet.noneOf(WcStatus.class);
        long[] seeds = ONLY_SEED
                .map(LongStream::of)
                .orElse(LongStream.rangeClosed(1, SEEDS))
                .toArray();
        for (long seed : seeds) {
            Walked walked = Walked.walk(this::begin, seed);
            calls += walked.calls();
            statuses.addAll(walked.statuses());
            if (walked.wrong() != null) {
                fail(walked.report(this::begin, "SharedMemoryWalkTest"));
            }
        }
        System.out.printf(
                Locale.ROOT,
                "goal A1 over shm: %,d verbs calls over %,d seeds as the model says, %,d requests and %,d messages"
                        + " without packets, %.1f s%n",
                calls,
                seeds.length,
                direct,
                messages,
                (System.nanoTime() - start) / 1e9);
        if (ONLY_SEED.isEmpty()) {
            assertThat(statuses).containsAll(STATUSES);
            assertThat(direct).as("requests without packets").isGreaterThan(SEEDS);
            assertThat(messages).as("messages without packets").isPositive();
        }
    }
}
