package verbena.sim.card;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import verbena.sim.card.Recorded.Ask;
import verbena.sim.card.Recorded.Doorbell;

/// The prediction of a recorded program on a card.
///
/// @param asRecorded with the program's own work between its calls: the median of the recording, for each call
/// @param unhindered without that work
/// @param changes    what would help, without that work, the most helpful first
/// @param doubts     why it is no promise
public record Prediction(Measured asRecorded, Measured unhindered, List<Change> changes, List<String> doubts) {
    /// The largest difference between the model and a published curve.
    public static final double ERROR = 0.2;

    private static final Set<String> JUDGED = Set.of("cx3", "connect-ib", "cx5", "cx6");
    private static final int BATCH = 16;
    private static final long SMALL_PAGE = 4096;
    private static final long LARGE_PAGE = 2 << 20;

    /// A change of a program.
    ///
    /// @param text what to do
    /// @param rate millions of requests a second with it
    /// @param gain how many times the rate without it
    public record Change(String text, double rate, double gain) {}

    /// Predicts.
    ///
    /// @throws IllegalArgumentException when nothing was posted
    public static Prediction of(Card card, Recorded recorded) {
        if (recorded.requests() == 0) {
            throw new IllegalArgumentException("the program posted no send request");
        }
        Measured asRecorded = run(card, gaps(recorded, recorded.medianGapNanos()), SMALL_PAGE);
        Recorded idle = gaps(recorded, 0);
        Measured unhindered = run(card, idle, SMALL_PAGE);
        var changes = new ArrayList<Change>();
        add(
                changes,
                "post up to " + BATCH + " requests with one doorbell",
                run(card, batched(idle), SMALL_PAGE),
                unhindered);
        add(changes, "send short data inline", run(card, inlined(idle, card), SMALL_PAGE), unhindered);
        add(changes, "ask for one completion in " + BATCH, run(card, unsignaled(idle), SMALL_PAGE), unhindered);
        add(changes, "keep twice as many requests outstanding", run(card, wider(idle), SMALL_PAGE), unhindered);
        int few = Math.max(1, Math.min(idle.queuePairs() / 2, card.count(Quantity.QP_CACHE) / 4));
        add(
                changes,
                "use " + few + " queue pairs",
                run(card, each(idle, ask -> pair(ask, few)), SMALL_PAGE),
                unhindered);
        add(changes, "register one region", run(card, each(idle, Prediction::inOneRegion), SMALL_PAGE), unhindered);
        add(changes, "use pages of 2 MiB", run(card, idle, LARGE_PAGE), unhindered);
        if (idle.sleeps()) {
            add(changes, "poll, and do not sleep", run(card, idle.awake(), SMALL_PAGE), unhindered);
        }
        changes.sort(Comparator.comparingDouble(Change::gain).reversed());
        return new Prediction(
                asRecorded, unhindered, List.copyOf(changes), doubts(card, recorded, asRecorded, unhindered));
    }

    private static Measured run(Card card, Recorded recorded, long page) {
        return CardRun.of(card, recorded.program(page));
    }

    private static void add(List<Change> changes, String text, Measured with, Measured without) {
        double gain = with.rate() / without.rate();
        if (gain > 1.02) {
            changes.add(new Change(text, with.rate(), gain));
        }
    }

    private static List<String> doubts(Card card, Recorded recorded, Measured slow, Measured fast) {
        var doubts = new ArrayList<String>();
        if (!JUDGED.contains(card.name())) {
            doubts.add("the numbers of " + card.name() + " are assumed, and no published curve judges them");
        }
        if (slow.rate() < fast.rate() / 2) {
            doubts.add("the program's own work decides, and the recorder made that work longer");
        }
        if (recorded.leftOut() > 0) {
            doubts.add(recorded.leftOut() + " later requests are not in the recording");
        }
        if (recorded.requests() < 1000) {
            doubts.add("a start of " + recorded.requests() + " requests says little of a long run");
        }
        if (recorded.doorbells().stream()
                .flatMap(each -> each.asks().stream())
                .anyMatch(ask -> ask.operation() == Operation.SEND)) {
            doubts.add("the peer's receives are taken to be there in time");
        }
        doubts.add("losses, congestion and the peer's answers by messages are not modelled");
        return doubts;
    }

    // ---- changes

    static Recorded gaps(Recorded recorded, long nanos) {
        return recorded.with(recorded.doorbells().stream()
                .map(each -> new Doorbell(each.thread(), nanos, each.taken(), each.asks()))
                .toList());
    }

    private static Recorded each(Recorded recorded, UnaryOperator<Ask> change) {
        return recorded.with(recorded.doorbells().stream()
                .map(each -> new Doorbell(
                        each.thread(),
                        each.gapNanos(),
                        each.taken(),
                        each.asks().stream().map(change).toList()))
                .toList());
    }

    private static Ask inOneRegion(Ask ask) {
        return new Ask(ask.operation(), ask.bytes(), ask.isInline(), ask.isSignaled(), ask.pair(), 0, ask.address());
    }

    private static Ask pair(Ask ask, int few) {
        return new Ask(
                ask.operation(),
                ask.bytes(),
                ask.isInline(),
                ask.isSignaled(),
                ask.pair() % few,
                ask.region(),
                ask.address());
    }

    private static Recorded inlined(Recorded recorded, Card card) {
        int longest = card.count(Quantity.INLINE);
        return each(
                recorded,
                ask -> ask.operation().isAnswered() || ask.bytes() > longest
                        ? ask
                        : new Ask(
                                ask.operation(),
                                ask.bytes(),
                                true,
                                ask.isSignaled(),
                                ask.pair(),
                                ask.region(),
                                ask.address()));
    }

    /// Joins posts of a thread, as far as the later ones did not wait for a completion of the earlier ones.
    static Recorded batched(Recorded recorded) {
        var joined = new ArrayList<Doorbell>();
        for (int thread = 0; thread < recorded.threads(); thread++) {
            Doorbell open = null;
            long signaledBefore = 0;
            long signaled = 0;
            for (Doorbell each : recorded.doorbells()) {
                if (each.thread() != thread) {
                    continue;
                }
                if (open != null
                        && open.asks().size() + each.asks().size() <= BATCH
                        && each.taken() <= signaledBefore) {
                    open = new Doorbell(
                            thread,
                            open.gapNanos() + each.gapNanos(),
                            Math.max(open.taken(), each.taken()),
                            Stream.concat(open.asks().stream(), each.asks().stream())
                                    .toList());
                } else {
                    if (open != null) {
                        joined.add(open);
                    }
                    open = each;
                    signaledBefore = signaled;
                }
                signaled += signals(each);
            }
            if (open != null) {
                joined.add(open);
            }
        }
        return recorded.with(joined);
    }

    private static long signals(Doorbell doorbell) {
        return doorbell.asks().stream().filter(Ask::isSignaled).count();
    }

    /// Takes the signals from 15 of 16 requests, and counts the completions anew. A program that waits for each
    /// completion needs them all, and stays as it is.
    static Recorded unsignaled(Recorded recorded) {
        long[] posted = new long[recorded.threads()];
        long[] signaled = new long[recorded.threads()];
        var changed = new ArrayList<Doorbell>();
        int waits = 0;
        for (Doorbell each : recorded.doorbells()) {
            if (signaled[each.thread()] - each.taken() < BATCH - 1 && each.taken() > 0) {
                waits++;
            }
            signaled[each.thread()] += signals(each);
            var asks = new ArrayList<Ask>();
            for (Ask ask : each.asks()) {
                boolean is = ++posted[each.thread()] % BATCH == 0;
                asks.add(new Ask(
                        ask.operation(), ask.bytes(), ask.isInline(), is, ask.pair(), ask.region(), ask.address()));
            }
            changed.add(new Doorbell(each.thread(), each.gapNanos(), each.taken() / BATCH, asks));
        }
        boolean needsAll = waits * 2 > recorded.doorbells().size() || recorded.requests() < BATCH * BATCH;
        return needsAll ? recorded : recorded.with(changed);
    }

    /// Lets each thread have twice as many requests outstanding as it had.
    static Recorded wider(Recorded recorded) {
        long[] signaled = new long[recorded.threads()];
        var changed = new ArrayList<Doorbell>();
        for (Doorbell each : recorded.doorbells()) {
            long underWay = Math.max(1, signaled[each.thread()] - each.taken());
            changed.add(
                    new Doorbell(each.thread(), each.gapNanos(), Math.max(0, each.taken() - underWay), each.asks()));
            signaled[each.thread()] += signals(each);
        }
        return recorded.with(changed);
    }
}
