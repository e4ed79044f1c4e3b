package verbena.sim.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

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
import org.junit.jupiter.api.Test;
import verbena.verbs.AsyncEvent;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// A1: verbs calls by chance, each compared with the model in what it returns, and in all that follows from it.
///
/// `-Dverbena.seed=N` walks with one seed; `-Dverbena.deep=true` makes ten million calls, `-Dverbena.walk.seconds=N`
/// as many as that time allows.
class RandomWalkTest {
    private static final Optional<Long> SECONDS = Optional.ofNullable(Long.getLong("verbena.walk.seconds"));
    /// The same on a fast and on a slow machine, and enough to meet all that has to be met.
    private static final int SEEDS = 120;
    private static final int DEEP_SEEDS = 10_000;
    private static final long DEEP_CALLS = 10_000_000;
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final Optional<Long> ONLY_SEED = Optional.ofNullable(Long.getLong("verbena.seed"));
    private static final int THREADS = 2;

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

    /// Of extended connections.
    private static final Set<WcStatus> EXTENDED_STATUSES = EnumSet.of(
            WcStatus.SUCCESS,
            WcStatus.LOC_LEN_ERR,
            WcStatus.LOC_QP_OP_ERR,
            WcStatus.LOC_PROT_ERR,
            WcStatus.WR_FLUSH_ERR,
            WcStatus.REM_INV_REQ_ERR,
            WcStatus.REM_ACCESS_ERR,
            WcStatus.REM_OP_ERR,
            WcStatus.RETRY_EXC_ERR,
            WcStatus.RNR_RETRY_EXC_ERR);

    private static final Set<WcOpcode> EXTENDED_OPCODES = EnumSet.of(
            WcOpcode.SEND,
            WcOpcode.RDMA_WRITE,
            WcOpcode.RDMA_READ,
            WcOpcode.FETCH_ADD,
            WcOpcode.COMP_SWAP,
            WcOpcode.RECV,
            WcOpcode.RECV_RDMA_WITH_IMM);

    private static final Set<AsyncEvent.Type> EVENTS = EnumSet.of(
            AsyncEvent.Type.CQ_ERR,
            AsyncEvent.Type.QP_FATAL,
            AsyncEvent.Type.QP_REQ_ERR,
            AsyncEvent.Type.QP_ACCESS_ERR,
            AsyncEvent.Type.COMM_EST,
            AsyncEvent.Type.SQ_DRAINED,
            AsyncEvent.Type.SRQ_LIMIT_REACHED,
            AsyncEvent.Type.QP_LAST_WQE_REACHED);

    @Test
    void whateverIsCalledDeviceAndModelAgree() throws Exception {
        long start = System.nanoTime();
        Collection<Walked> walks =
                ONLY_SEED.isPresent() ? List.of(Walked.walk(RandomWalk::simulated, ONLY_SEED.get())) : walks(start);
        long calls = 0;
        var statuses = EnumSet.noneOf(WcStatus.class);
        var extendedStatuses = EnumSet.noneOf(WcStatus.class);
        var extendedOpcodes = EnumSet.noneOf(WcOpcode.class);
        var events = EnumSet.noneOf(AsyncEvent.Type.class);
        for (Walked walked : walks) {
            calls += walked.calls();
            statuses.addAll(walked.statuses());
            extendedStatuses.addAll(walked.extendedStatuses());
            extendedOpcodes.addAll(walked.extendedOpcodes());
            events.addAll(walked.events());
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
            if (walked.wrong() != null) {
                fail(walked.report(RandomWalk::simulated, "RandomWalkTest"));
            }
        }
        if (ONLY_SEED.isEmpty()) {
            assertThat(statuses).containsAll(STATUSES);
            assertThat(extendedStatuses).containsAll(EXTENDED_STATUSES);
            assertThat(extendedOpcodes).containsAll(EXTENDED_OPCODES);
            assertThat(events).containsAll(EVENTS);
        }
    }

    private static Collection<Walked> walks(long start) throws Exception {
        var walks = new ConcurrentLinkedQueue<Walked>();
        var seeds = new AtomicLong();
        var calls = new AtomicLong();
        Callable<Boolean> walker = () -> {
            while (isTime(start, seeds.get(), calls.get())) {
                Walked walked = Walked.walk(RandomWalk::simulated, seeds.incrementAndGet());
                walks.add(walked);
                calls.addAndGet(walked.calls());
                if (walked.wrong() != null) {
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
        if (SECONDS.isPresent()) {
            return System.nanoTime() - start < SECONDS.get() * 1_000_000_000L;
        }
        return DEEP ? seeds < DEEP_SEEDS || calls < DEEP_CALLS : seeds < SEEDS;
    }
}
