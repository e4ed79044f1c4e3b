package verbena.check;

import java.util.Locale;

/// A finding: what a rule has noticed, and where. Equal ones are told once and counted.
///
/// @param rule that the program has broken
/// @param detail what was seen, in one sentence; that of the first time
/// @param noticed where it was noticed
/// @param earlier where the step before it was
/// @param step what that step was, in a word or two
/// @param count how often
public record Finding(Rule rule, String detail, CallPlace noticed, CallPlace earlier, String step, long count) {
    /// Returns a text of several lines, for people.
    public String text() {
        var text = new StringBuilder(String.format(
                Locale.ROOT,
                "%s %s%s: %s%n  here: %s%n",
                rule.id(),
                rule.grade().word(),
                count > 1 ? ", " + count + " times" : "",
                detail,
                noticed.stack("        ")));
        if (!earlier.frames().isEmpty()) {
            text.append(String.format("  %s: %s%n", step, earlier.stack(" ".repeat(step.length() + 4))));
        }
        return text.append(String.format(
                        "  standard: %s%n  on a card: %s%n  cure: %s%n", rule.clause(), rule.card(), rule.cure()))
                .toString();
    }
}
