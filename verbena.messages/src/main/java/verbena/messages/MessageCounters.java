package verbena.messages;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import verbena.verbs.counting.Counted;
import verbena.verbs.counting.Tally;

/// The counters of all workers of this process.
final class MessageCounters {
    /// The tally of the workers, and of what is counted for all of them here.
    static final Tally TALLY = Tally.of("Messages");

    static final LongAdder CALLS = new LongAdder();
    /// Calls of this process that got no answer, or a failure for one.
    static final LongAdder FAILED_CALLS = new LongAdder();

    static final LongAdder ANSWERED_CALLS = new LongAdder();
    /// Calls of peers whose handler threw.
    static final LongAdder FAULTS = new LongAdder();

    static {
        TALLY.add(() -> Map.of(
                "calls", CALLS.sum(),
                "calls.failed", FAILED_CALLS.sum(),
                "calls.answered", ANSWERED_CALLS.sum(),
                "calls.answered.faults", FAULTS.sum()));
    }

    private MessageCounters() {}

    /// The counters of one worker, of [Worker#counters()], and its peers.
    ///
    /// @param traffic of the worker
    record OfWorker(Worker worker, Traffic traffic) implements Counted {
        private static boolean isCounter(String name) {
            return name.equals("active.dropped") || name.equals("rails.lost") || name.equals("unexpected.dropped");
        }

        @Override
        public Map<String, Long> counters() {
            Map<String, Long> all = worker.counters();
            all.keySet().removeIf(name -> !isCounter(name));
            return all;
        }

        @Override
        public Map<String, Long> gauges() {
            var all = new TreeMap<>(worker.counters());
            all.keySet().removeIf(OfWorker::isCounter);
            all.put("workers", 1L);
            all.put("peers", (long) traffic.remotes().size());
            return all;
        }
    }
}
