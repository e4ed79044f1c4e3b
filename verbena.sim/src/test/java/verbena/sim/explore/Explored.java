package verbena.sim.explore;

import java.util.Locale;

/// What was explored, and found right.
///
/// @param name of the protocol
/// @param deviations from the usual, at most, in each schedule
/// @param states that differ
/// @param steps that were taken from one state to another, each in a world of its own
/// @param schedules that these stand for: orders of steps until nothing can happen any more
/// @param longest steps of the longest first way to a state
/// @param ends states in which nothing can happen any more
/// @param seconds that it took
public record Explored(
        String name, int deviations, int states, int steps, double schedules, int longest, int ends, double seconds) {
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "explored %s: %,d states, %,d steps, %.1e schedules of up to %d deviations, longest %d, %d ends, %.1f s",
                name,
                states,
                steps,
                schedules,
                deviations,
                longest,
                ends,
                seconds);
    }
}
