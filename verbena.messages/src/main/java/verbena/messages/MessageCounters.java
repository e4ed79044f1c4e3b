package verbena.messages;

import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import verbena.verbs.counting.Counted;
import verbena.verbs.counting.ProcessCounters;

/// The counters of all workers of this process.
final class MessageCounters {
    /// The sums of the workers, and what is counted for all of them here.
    static final ProcessCounters SUMS = ProcessCounters.of("Messages");

    static final LongAdder CALLS = new LongAdder();
    /// Calls of this process that got no answer, or a failure for one.
    static final LongAdder FAILED_CALLS = new LongAdder();

    static final LongAdder ANSWERED_CALLS = new LongAdder();
    /// Calls of peers whose handler threw.
    static final LongAdder FAULTS = new LongAdder();

    static {
        SUMS.add(() -> Map.of(
                "calls", CALLS.sum(),
                "calls.failed", FAILED_CALLS.sum(),
                "calls.answered", ANSWERED_CALLS.sum(),
                "calls.answered.faults", FAULTS.sum()));
    }

    private MessageCounters() {}

    /// The counters of one worker, and the number of its peers.
    ///
    /// @param all as [Worker#counters()] has them
    record OfWorker(Supplier<SortedMap<String, Long>> all, LongSupplier peers) implements Counted {
        private static boolean isCounter(String name) {
            return name.equals("active.dropped") || name.equals("rails.lost") || name.equals("unexpected.dropped");
        }

        @Override
        public Map<String, Long> counters() {
            Map<String, Long> found = all.get();
            found.keySet().removeIf(name -> !isCounter(name));
            return found;
        }

        @Override
        public Map<String, Long> gauges() {
            Map<String, Long> found = all.get();
            found.keySet().removeIf(OfWorker::isCounter);
            found.put("workers", 1L);
            found.put("peers", peers.getAsLong());
            return found;
        }
    }
}
