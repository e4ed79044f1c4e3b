package verbena.sim.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import verbena.verbs.AsyncEvent;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// What a [RandomWalk] from one seed has met.
///
/// @param wrong why it ended early
record Walked(
        long seed,
        int calls,
        Set<WcStatus> statuses,
        Set<WcStatus> extendedStatuses,
        Set<WcOpcode> extendedOpcodes,
        Set<AsyncEvent.Type> events,
        @Nullable Throwable wrong) {
    /// So long that ten thousand seeds are ten million calls.
    private static final int STEPS = 900;
    private static final long SHORTENING_NANOS = 20_000_000_000L;

    /// Begins a walk.
    interface Beginning {
        /// Opens the devices, and begins.
        ///
        /// @param log where calls are written; null when no log is wanted
        RandomWalk begin(long seed, @Nullable List<String> log);
    }

    static Walked walk(Beginning beginning, long seed) {
        return walk(beginning, seed, all(), null);
    }

    private static List<Integer> all() {
        return IntStream.range(0, STEPS).boxed().toList();
    }

    private static Walked walk(Beginning beginning, long seed, List<Integer> steps, @Nullable List<String> log) {
        RandomWalk walk = beginning.begin(seed, log);
        Lockstep lockstep = walk.lockstep();
        Throwable wrong = null;
        try {
            steps.forEach(walk::step);
            walk.finish();
            lockstep.close();
        } catch (RuntimeException | AssertionError e) {
            wrong = e;
        } finally {
            lockstep.abandon();
        }
        return new Walked(
                seed,
                lockstep.calls(),
                lockstep.statuses(),
                lockstep.extendedStatuses(),
                lockstep.extendedOpcodes(),
                lockstep.events(),
                wrong);
    }

    // ---- what a failure tells

    String report(Beginning beginning, String test) {
        List<Integer> steps = shorten(beginning);
        var log = new ArrayList<String>();
        Throwable again = walk(beginning, seed, steps, log).wrong;
        return "seed " + seed + ": " + (again == null ? wrong : again) + "\nafter\n"
                + String.join("\n", log)
                + "\nrepeat: mvn -pl verbena.sim -am test -Dtest=" + test + " -Dverbena.seed=" + seed
                + " -Dsurefire.failIfNoSpecifiedTests=false";
    }

    /// As few steps as still go wrong: pieces are left out, large ones first, as long as that is so.
    private List<Integer> shorten(Beginning beginning) {
        long start = System.nanoTime();
        List<Integer> steps = all();
        for (int piece = STEPS / 2; piece > 0; piece /= 2) {
            for (int from = steps.size() - piece; from >= 0; from -= piece) {
                var fewer = new ArrayList<>(steps);
                fewer.subList(from, Math.min(steps.size(), from + piece)).clear();
                if (System.nanoTime() - start < SHORTENING_NANOS
                        && walk(beginning, seed, fewer, null).wrong instanceof Disagreement) {
                    steps = fewer;
                    from = Math.min(from, steps.size());
                }
            }
        }
        return steps;
    }
}
