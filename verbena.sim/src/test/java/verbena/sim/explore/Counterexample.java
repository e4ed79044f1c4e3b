package verbena.sim.explore;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// A schedule that shows something wrong, in words and in numbers.
public final class Counterexample extends AssertionError {
    private static final long serialVersionUID = 1;

    /// How many lines of a long schedule are printed, from its beginning and to its end.
    private static final int LINES = 40;

    private final transient List<String> schedule;

    /// @param schedule the steps in words; those that are no usual ones begin with an exclamation mark
    /// @param way their numbers
    /// @param why null when nothing is wrong
    Counterexample(String name, List<String> schedule, int[] way, @Nullable Throwable why) {
        super(text(name, schedule, way, why), why);
        this.schedule = List.copyOf(schedule);
    }

    /// The steps in words.
    public List<String> schedule() {
        return schedule;
    }

    private static String text(String name, List<String> schedule, int[] way, @Nullable Throwable why) {
        var lines = new ArrayList<>(schedule);
        if (lines.size() > 2 * LINES) {
            lines.subList(LINES, lines.size() - LINES).clear();
            lines.add(LINES, "  (and so on)");
        }
        String numbers = IntStream.of(way).mapToObj(Integer::toString).collect(Collectors.joining("."));
        return name + ": " + (why == null ? "nothing is wrong" : why.getMessage() == null ? why : why.getMessage())
                + "\n    " + String.join("\n    ", lines) + "\nagain: -Dverbena.schedule=" + numbers;
    }
}
