package verbena.check.rules;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedPair;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Flag;
import verbena.check.Watcher;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// Watches what posting costs.
final class PostingCosts extends Watcher {
    /// Requests in a row, without a look at completions, from which on there was something to gather.
    private static final int ROW = 16;
    /// Bytes of a cache line, and of a request from which on lines matter.
    private static final int LINE = 64;
    private static final int LARGE = 4_096;
    /// Requests of one queue pair, short or unaligned, from which on it is told.
    private static final int SHORT = 64;

    /// Requests in a row on one queue pair. The posting side of a queue pair is one thread's at a time.
    private static final class Row {
        private long polls;
        private int calls;
        private int signaled;
        private final AtomicInteger shorts = new AtomicInteger();
        private final AtomicInteger unaligned = new AtomicInteger();
    }

    private final Findings findings;
    private final Map<TrackedPair, Row> rows = new ConcurrentHashMap<>();

    PostingCosts(Checker checker) {
        super(Set.of(Event.POST, Event.SUBMIT, Event.CLOSE));
        this.findings = checker.findings();
    }

    @Override
    public void onSubmit(TrackedPair pair, List<TrackedRequest> requests) {
        if (requests.isEmpty()) {
            return;
        }
        Row row = rows.computeIfAbsent(pair, _ -> new Row());
        synchronized (row) {
            long polls = pair.queues().send().polls() + pair.queues().receive().polls();
            if (row.polls != polls) {
                row.polls = polls;
                row.calls = 0;
                row.signaled = 0;
            }
            row.calls = requests.size() == 1 ? row.calls + 1 : 0;
            row.signaled = areSignaled(requests) ? row.signaled + requests.size() : 0;
            if (row.calls == ROW) {
                findings.tell(
                        Rule.ONE_BY_ONE,
                        ROW + " requests in a row were posted by one call each.",
                        requests.getLast().place(),
                        "the queue pair was made",
                        pair.made());
            }
            if (row.signaled >= ROW && row.signaled - requests.size() < ROW) {
                findings.tell(
                        Rule.ALL_SIGNALED,
                        row.signaled + " requests in a row asked for a completion each.",
                        requests.getLast().place(),
                        "the queue pair was made",
                        pair.made());
            }
        }
    }

    private static boolean areSignaled(List<TrackedRequest> requests) {
        for (TrackedRequest each : requests) {
            if (!each.has(Flag.SIGNALED)) {
                return false;
            }
        }
        return true;
    }

    private void checkLines(TrackedRequest request, TrackedPair pair) {
        for (TrackedRequest.Piece each : request.pieces()) {
            MemorySegment memory = each.memory();
            if (memory != null && each.length() >= LARGE && memory.address() % LINE != 0) {
                if (rows.computeIfAbsent(pair, _ -> new Row()).unaligned.incrementAndGet() == SHORT) {
                    findings.tell(
                            Rule.UNALIGNED,
                            SHORT + " requests of " + LARGE + " bytes or more did not begin at a multiple of " + LINE
                                    + ".",
                            request.place(),
                            "the queue pair was made",
                            pair.made());
                }
                return;
            }
        }
    }

    @Override
    public void onPost(TrackedRequest request) {
        SendOperation operation = request.operation();
        TrackedPair pair = TrackedPair.of(request);
        if (pair != null && operation != null) {
            checkLines(request, pair);
        }
        if (pair == null
                || operation == null
                || !operation.carriesData()
                || request.isInline()
                || request.has(Flag.FAULTY)
                || request.bytes() == 0
                || request.bytes() > pair.options().maxInlineBytes()) {
            return;
        }
        if (rows.computeIfAbsent(pair, _ -> new Row()).shorts.incrementAndGet() == SHORT) {
            findings.tell(
                    Rule.NOT_INLINE,
                    SHORT + " requests of up to " + pair.options().maxInlineBytes() + " bytes, the last of "
                            + request.bytes() + ", were not inline.",
                    request.place(),
                    "the queue pair was made",
                    pair.made());
        }
    }

    @Override
    public void onClose(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        rows.remove(pair);
    }
}
