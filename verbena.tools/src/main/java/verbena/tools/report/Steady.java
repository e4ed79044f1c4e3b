package verbena.tools.report;

import java.util.Arrays;
import java.util.Locale;

/// The decision when a warm-up may end: when the figures stand still and the compilers of the virtual machines have
/// little left to do. It is told figures and time, and measures nothing itself. For one thread.
///
/// Figures stand still when the median of the last few rounds is that of the rounds before, within 10 %. Single
/// rounds would not do: on a small machine two rounds in a row differ by more. Figures alone would not do either:
/// code of the first compiler runs for a while at a speed of its own, until that of the second replaces it.
public final class Steady {
    /// The length of the stretches of rounds that are compared: two in a row.
    public static final int STRETCH = 5;
    /// The greatest distance between the medians of the stretches, as a share of the lesser.
    public static final double APART = 0.10;
    /// The greatest share of the time of the last stretch during which the compilers of one process may have
    /// worked.
    private static final double COMPILING = 0.10;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final double PERCENT = 100;

    private final long limitNanos;
    /// The figures of each contender in both stretches, the newest at the end.
    private final double[][] last;
    /// The times at which the rounds of the last stretch began, and the time that the compilers had worked then;
    /// the newest at the end.
    private final long[] begun = new long[STRETCH + 1];

    private final long[] compiled = new long[STRETCH + 1];
    private int rounds;
    private boolean reached;

    /// @param contenders how many figures each round has
    /// @param limitNanos after so long the warm-up ends in any case
    public Steady(int contenders, long limitNanos) {
        this.limitNanos = limitNanos;
        last = new double[contenders][2 * STRETCH];
    }

    /// Adds a round.
    ///
    /// @param nanos how long the warm-up has lasted, this round included
    /// @param compiledNanos how long the compilers of one process have worked so far, the busiest of all
    /// @param figures one of each contender, more than 0
    /// @return whether the warm-up is over
    /// @throws IllegalArgumentException when these are not as many figures as there are contenders
    public boolean add(long nanos, long compiledNanos, double... figures) {
        if (figures.length != last.length) {
            throw new IllegalArgumentException("figures: " + last.length + " expected, got " + figures.length);
        }
        for (int i = 0; i < figures.length; i++) {
            System.arraycopy(last[i], 1, last[i], 0, last[i].length - 1);
            last[i][last[i].length - 1] = figures[i];
        }
        append(begun, nanos);
        append(compiled, compiledNanos);
        rounds++;
        reached = isKnown() && apart() <= APART && isQuiet();
        return reached || nanos >= limitNanos;
    }

    /// Returns whether the figures stand still.
    public boolean isReached() {
        return reached;
    }

    /// Returns the course of the warm-up, in words that go behind "warm-up: ".
    public String words() {
        String seconds = String.format(Locale.ROOT, "%.1f s", begun[STRETCH] / NANOS_PER_SECOND);
        if (reached) {
            return seconds + " until the figures were stable";
        }
        String why = !isKnown()
                ? "there were " + rounds + " rounds only"
                : apart() > APART
                        ? "they changed by " + Math.round(apart() * PERCENT) + " % within a few rounds"
                        : "the compilers still worked";
        return seconds + ", and the figures were not stable: " + why;
    }

    private boolean isKnown() {
        return rounds >= 2 * STRETCH;
    }

    private double apart() {
        return Arrays.stream(last).mapToDouble(Steady::apart).max().orElse(0);
    }

    private static double apart(double[] figures) {
        double before = Spread.of(Arrays.copyOf(figures, STRETCH)).median();
        double now =
                Spread.of(Arrays.copyOfRange(figures, STRETCH, 2 * STRETCH)).median();
        return Math.max(before, now) / Math.min(before, now) - 1;
    }

    private boolean isQuiet() {
        return compiled[STRETCH] - compiled[0] <= COMPILING * (begun[STRETCH] - begun[0]);
    }

    private static void append(long[] values, long value) {
        System.arraycopy(values, 1, values, 0, values.length - 1);
        values[values.length - 1] = value;
    }
}
