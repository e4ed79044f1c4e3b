package verbena.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// Findings that are known and wanted: a line of a file for each, `IDENTIFIER [PLACE] # REASON`. The place is a part
/// of a frame's text, where `*` stands for anything; without one it is any place. A reason is required.
public final class Suppressions {
    private record Line(Rule rule, Pattern place) {}

    private final List<Line> lines;

    private Suppressions(List<Line> lines) {
        this.lines = lines;
    }

    public static Suppressions none() {
        return new Suppressions(List.of());
    }

    /// Reads the lines of a file.
    ///
    /// @throws IllegalArgumentException when a line has a mistake in it; the message has its number
    public static Suppressions of(List<String> file) {
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < file.size(); i++) {
            String text = file.get(i).strip();
            if (!text.isEmpty() && !text.startsWith("#")) {
                lines.add(line(i + 1, text));
            }
        }
        return new Suppressions(lines);
    }

    private static Line line(int number, String text) {
        String[] part = text.split("#", 2);
        if (part.length == 1 || part[1].isBlank()) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "suppressions: line %d has no reason: end it with \"# why\"", number));
        }
        String[] word = part[0].strip().split("\\s+", 2);
        try {
            String place = word.length == 1 ? "" : word[1];
            return new Line(
                    Rule.of(word[0]), Pattern.compile(Pattern.quote(place).replace("*", "\\E.*\\Q")));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("suppressions: line " + number + ": " + e.getMessage(), e);
        }
    }

    /// Returns whether a finding is known.
    public boolean covers(Finding finding) {
        for (Line each : lines) {
            if (each.rule == finding.rule() && (isAt(each, finding.noticed()) || isAt(each, finding.earlier()))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isAt(Line line, CallPlace place) {
        return line.place.pattern().equals("\\Q\\E")
                || place.frames().stream()
                        .anyMatch(frame -> line.place.matcher(frame.toString()).find());
    }
}
