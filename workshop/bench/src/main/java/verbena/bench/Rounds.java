package verbena.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import verbena.tools.report.Result;
import verbena.tools.report.Steady;

/// Measures contenders in turn, round by round, so that other load on the machine hits all of them. What cannot be
/// measured is left out and named.
final class Rounds {
    /// The compilers of a program need several seconds of its time, and a stretch of rounds has to be that long.
    private static final double WARM_UP_SECONDS = 1;
    /// The first round only shows how many messages are enough.
    private static final double FIRST_SECONDS = 0.2;
    /// A user is waiting, and on a busy machine the figures never become stable.
    private static final long WARM_UP_NANOS_MAX = 60_000_000_000L;
    /// The same for each figure, where there are many.
    private static final long WARM_UP_NANOS_MAX_EACH = 15_000_000_000L;

    final List<Entry> entries = new ArrayList<>();
    /// The entries of contenders that get faster while they run.
    private final List<Entry> warming = new ArrayList<>();
    private final Settings settings;
    private final List<String> missing = new ArrayList<>();
    private String warmUp = "";

    /// @param settings may be changed until the first call
    Rounds(Settings settings) {
        this.settings = settings;
    }

    interface Attempt {
        void run() throws Exception;
    }

    /// Makes an attempt and records its failure, because a contender that cannot measure one figure can still
    /// measure others.
    boolean attempt(String what, Attempt attempt) throws InterruptedException {
        try {
            attempt.run();
            return true;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            missing.add(e instanceof Child.Failed ? what + ": " + e.getMessage() : what + ": " + e);
            return false;
        }
    }

    void start(Collection<? extends Contender> contenders) throws InterruptedException {
        for (Contender contender : contenders) {
            attempt(contender.name(), () -> {
                List<Entry> wanted = contender.start().stream()
                        .filter(entry -> settings.isWanted(entry.toString()))
                        .toList();
                entries.addAll(wanted);
                if (contender.getsWarm()) {
                    warming.addAll(wanted);
                }
            });
        }
    }

    /// Runs rounds that do not count, until the figures are stable. All take part in the first round, which shows
    /// how many messages of each are enough.
    void warmUp() throws InterruptedException {
        long start = System.nanoTime();
        measureAll("warming up", entries, FIRST_SECONDS, false);
        if (warming.isEmpty()) {
            warmUp = "none, because all programs are started anew each time";
            return;
        }
        List<Entry> all = List.copyOf(warming);
        var steady = new Steady(all.size(), Math.max(WARM_UP_NANOS_MAX, all.size() * WARM_UP_NANOS_MAX_EACH));
        do {
            measureAll("warming up", warming, WARM_UP_SECONDS, false);
        } while (!warming.isEmpty()
                && !steady.add(
                        System.nanoTime() - start,
                        0, // compilers work in other processes; their unfinished work shows in the figures
                        all.stream().mapToDouble(Entry::figure).toArray()));
        warmUp = steady.words();
    }

    void measure() throws InterruptedException {
        int rounds = settings.rounds();
        for (int round = 1; round <= rounds; round++) {
            measureAll("round " + round + " of " + rounds, entries, settings.seconds(), true);
        }
        progress("");
    }

    private void measureAll(String what, List<Entry> some, double seconds, boolean counts) throws InterruptedException {
        for (Entry entry : List.copyOf(some)) {
            progress(what + ": " + entry);
            if (!attempt(entry.toString(), () -> entry.measure(seconds, counts))) {
                entries.remove(entry);
                warming.remove(entry);
            }
        }
    }

    List<Result> medians() {
        return entries.stream().map(entry -> Medians.of(entry.results)).toList();
    }

    /// Adds facts about how the figures were measured, and which were not.
    ///
    /// @param what took part
    /// @param unknown the goals without figures
    void describe(Map<String, String> facts, String what, List<String> unknown) {
        facts.put(
                "measured",
                "medians of " + settings.rounds() + " rounds of " + settings.seconds() + " s each; " + what);
        if (!warmUp.isEmpty()) {
            facts.put("warm-up", warmUp);
        }
        if (!missing.isEmpty()) {
            facts.put("missing", String.join("; ", missing));
        }
        if (!unknown.isEmpty() && settings.isWanted("")) {
            facts.put("not measured", String.join("; ", unknown));
        }
    }

    /// Prints what is measured, for people who watch.
    static void progress(String text) {
        if (System.console() != null && System.console().isTerminal()) {
            System.err.printf(Locale.ROOT, "\r%-70s%s", text, text.isEmpty() ? "\r" : "");
            System.err.flush();
        }
    }
}
