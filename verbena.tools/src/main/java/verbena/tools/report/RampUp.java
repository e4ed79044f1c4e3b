package verbena.tools.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The time that a process took to become fast: when a round of its warm-up first had 90 % of the rate of the last
/// rounds. It is told rates and time, and measures nothing itself. For one thread.
public final class RampUp {
    /// The share of the rate in the end that counts as fast.
    public static final double SHARE = 0.9;

    private static final double MILLIS_PER_SECOND = 1_000;

    private record Round(long millis, double rate) {}

    private final List<Round> rounds = new ArrayList<>();

    /// Adds a round.
    ///
    /// @param millis since the process began
    /// @param rate of this round, more than 0
    public void add(long millis, double rate) {
        rounds.add(new Round(millis, rate));
    }

    /// Returns the time at which it was fast, in milliseconds since the process began.
    ///
    /// @throws IllegalStateException when there was no round
    public long millis() {
        if (rounds.isEmpty()) {
            throw new IllegalStateException("there was no round");
        }
        double[] last = rounds.subList(Math.max(0, rounds.size() - Steady.STRETCH), rounds.size()).stream()
                .mapToDouble(Round::rate)
                .toArray();
        double enough = SHARE * Spread.of(last).median();
        return rounds.stream()
                .filter(round -> round.rate >= enough)
                .findFirst()
                .orElseThrow() // the median is the rate of a round, or less than that of one
                .millis;
    }

    /// Returns the same in words, which go behind "90 % of the rate: ".
    public String words() {
        return String.format(
                Locale.ROOT,
                "%.2f s after the process began; the rate is that at the end of the warm-up",
                millis() / MILLIS_PER_SECOND);
    }
}
