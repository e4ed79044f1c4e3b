package verbena.tools.explain;

import java.util.List;
import verbena.tools.kit.Legible;

/// The events of one run, in the form in which they are shown.
///
/// @param cast who plays
/// @param name of the scenario
/// @param title what it is about
/// @param setting what the two ends are, and how it was measured
/// @param events in the order of time; the first is where time begins
/// @param closing what it came to: counts, copies, mode switches
record Recording(Cast cast, String name, String title, List<String> setting, List<Event> events, List<String> closing) {
    /// Returns the microseconds from the beginning to an event, as text.
    String since(Event event) {
        return micros(event.nanos() - events.getFirst().nanos());
    }

    /// Returns a time that needs few columns: microseconds, or with its unit when it is long.
    static String brief(long nanos) {
        if (nanos < 100_000_000) {
            return micros(nanos);
        }
        return nanos < 1_000_000_000 ? Legible.figure("%.1f ms", nanos / 1e6) : Legible.figure("%.3f s", nanos / 1e9);
    }

    static String micros(long nanos) {
        return Legible.figure("%,.1f", nanos / 1_000.0);
    }
}
