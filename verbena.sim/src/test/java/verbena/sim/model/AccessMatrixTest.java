package verbena.sim.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import verbena.sim.model.AccessMatrix.Case;
import verbena.sim.model.ModelSend.Operation;
import verbena.verbs.QpState;
import verbena.verbs.QpType;

/// A2: which request may touch which memory, in all combinations; see [AccessMatrix].
class AccessMatrixTest {
    private static final int THREADS = 2;
    private static final long SEED = Long.getLong("verbena.seed", 1);

    /// One of so many equal parts of the cases is tried, as it is drawn (`-Dverbena.draw=N`). The deep run tries all.
    private static final int SHARES = 3;

    private record Asked(QpType service, Operation operation) {}

    private static final List<Asked> ASKED = List.of(
            new Asked(QpType.RC, Operation.WRITE),
            new Asked(QpType.RC, Operation.READ),
            new Asked(QpType.RC, Operation.FETCH_ADD),
            new Asked(QpType.RC, Operation.WRITE_WITH_IMMEDIATE),
            new Asked(QpType.RC, Operation.ATOMIC_WRITE),
            new Asked(QpType.RC, Operation.FLUSH),
            new Asked(QpType.UC, Operation.WRITE));

    /// The same rules once more.
    private static final List<Asked> ASKED_DEEP =
            List.of(new Asked(QpType.RC, Operation.COMPARE_SWAP), new Asked(QpType.UC, Operation.WRITE_WITH_IMMEDIATE));

    @Test
    void everyRequestIsCarriedOutOrRefusedAsTheRulesSay() throws Exception {
        long start = System.nanoTime();
        boolean isDeep = Boolean.getBoolean("verbena.deep");
        List<Case> cases = isDeep ? AccessMatrix.cases() : drawn(AccessMatrix.cases());
        var requests = new ArrayList<>(ASKED);
        if (isDeep) {
            requests.addAll(ASKED_DEEP);
        }
        Map<QpState, Integer> outcomes = new EnumMap<>(QpState.class);
        int count = 0;
        try (var threads = Executors.newFixedThreadPool(THREADS)) {
            var work = new ArrayList<Callable<Map<QpState, Integer>>>();
            for (Asked asked : requests) {
                work.add(() -> run(asked, cases));
            }
            for (var done : threads.invokeAll(work)) {
                for (var outcome : done.get().entrySet()) {
                    outcomes.merge(outcome.getKey(), outcome.getValue(), Integer::sum);
                    count += outcome.getValue();
                }
            }
        }
        System.out.printf(
                Locale.ROOT,
                "goal A2: %,d cases of %d requests, %,d carried out or dropped in silence and %,d refused, each NAK,"
                        + " completion, event and byte as the model says, seed %d, %.1f s%n",
                count,
                requests.size(),
                outcomes.get(QpState.RTS),
                outcomes.get(QpState.ERR),
                SEED,
                (System.nanoTime() - start) / 1e9);
        assertThat(count).isEqualTo(requests.size() * cases.size()).isGreaterThanOrEqualTo(20_000);
        assertThat(outcomes.get(QpState.RTS)).isGreaterThan(3_000);
        assertThat(outcomes.get(QpState.ERR)).isGreaterThan(3_000);
    }

    /// Returns one share of the cases. They are shuffled first, so that a share has each value of each dimension.
    private static List<Case> drawn(List<Case> cases) {
        var shuffled = new ArrayList<>(cases);
        Collections.shuffle(shuffled, new Random(SHARES));
        int share = Integer.getInteger("verbena.draw", 0) % SHARES;
        return IntStream.range(0, cases.size())
                .filter(i -> i % SHARES == share)
                .mapToObj(shuffled::get)
                .toList();
    }

    private static Map<QpState, Integer> run(Asked asked, List<Case> cases) {
        var matrix = new AccessMatrix(SEED, asked.service, asked.operation);
        for (Case one : cases) {
            try {
                matrix.run(one);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(asked + " " + one + ": " + e.getMessage(), e);
            }
        }
        return matrix.outcomes();
    }
}
