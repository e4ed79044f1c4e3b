package verbena.tools.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import verbena.check.litmus.Answer;
import verbena.check.litmus.Level;
import verbena.check.litmus.Program;
import verbena.check.litmus.Program.Strand;
import verbena.check.litmus.Step;
import verbena.tools.check.LitmusStory.Part;

/// Litmus programs as lines of text.
final class LitmusText {
    private static final int COLUMNS = 100;

    private LitmusText() {}

    /// Returns a table of all: what each asks, and at which level it can be.
    static List<String> list(List<LitmusStory> stories) {
        var lines = new ArrayList<String>();
        lines.add("%-18s %-8s %-8s %-8s %s".formatted("name", "strong", "card", "standard", "question"));
        for (LitmusStory story : stories) {
            Optional<Level> least = story.parts().getFirst().answer().level();
            lines.add("%-18s %-8s %-8s %-8s %s"
                    .formatted(
                            story.litmus().name(),
                            can(least, Level.STRONG),
                            can(least, Level.CARD),
                            can(least, Level.STANDARD),
                            story.litmus().question()));
        }
        lines.add("");
        lines.add("%d programs, each with its cures: 'verbena check litmus NAME' explains one and tries it"
                .formatted(stories.size()));
        return lines;
    }

    static String can(Optional<Level> least, Level level) {
        return least.isPresent() && least.get().compareTo(level) <= 0 ? "yes" : "no";
    }

    /// Returns all about one.
    static List<String> story(LitmusStory story, Optional<LitmusDevice> device) {
        var lines = new ArrayList<String>();
        lines.add(story.litmus().name() + ": " + story.litmus().title());
        lines.add("");
        wrap(lines, "  ", story.litmus().question() + " " + story.litmus().why());
        for (Part part : story.parts()) {
            lines.add("");
            lines.add(
                    part.variant().title().isEmpty()
                            ? "The program"
                            : "Cure: " + part.variant().title());
            part(lines, part, device);
        }
        lines.add("");
        return lines;
    }

    private static void part(List<String> lines, Part part, Optional<LitmusDevice> device) {
        Program program = part.variant().program();
        lines.add("");
        lines.add("  memory  " + memory(program));
        if (!program.queues().isEmpty()) {
            lines.add("  queues  " + queues(program));
        }
        lines.add("");
        columns(program).forEach(line -> lines.add("    " + line));
        lines.add("");
        lines.add("  can %s?  %s".formatted(program.condition(), answer(part)));
        lines.add("");
        outcomes(lines, part, device);
        if (!part.variant().see().isEmpty()) {
            lines.add("");
            wrap(lines, "  ", part.variant().see());
        }
    }

    static String memory(Program program) {
        return program.words().values().stream()
                .collect(Collectors.groupingBy(
                        Program.Word::node,
                        TreeMap::new,
                        Collectors.mapping(word -> word.name() + " = " + word.initial(), Collectors.joining(", "))))
                .entrySet()
                .stream()
                .map(node -> node.getKey() + ": " + node.getValue())
                .collect(Collectors.joining("; "));
    }

    static String queues(Program program) {
        return program.queues().values().stream()
                .map(queue -> queue.name() + " between " + queue.one() + " and " + queue.other()
                        + (queue.relaxed() ? ", relaxed ordering" : ""))
                .collect(Collectors.joining("; "));
    }

    static String answer(Part part) {
        return part.answer()
                .level()
                .map(level -> switch (level) {
                    case STRONG -> "Yes, on every device.";
                    case CARD -> "Yes, on cards; software devices do not show it.";
                    case STANDARD -> "The standards allow it; cards of today do not show it.";
                })
                .orElse("Never.");
    }

    // A column for each thread.
    private static List<String> columns(Program program) {
        List<List<String>> columns =
                program.threads().stream().map(LitmusText::column).toList();
        List<Integer> widths = columns.stream()
                .map(column -> column.stream().mapToInt(String::length).max().orElse(0) + 3)
                .toList();
        int rows = columns.stream().mapToInt(List::size).max().orElse(0);
        var lines = new ArrayList<String>();
        for (int row = 0; row < rows; row++) {
            var line = new StringBuilder();
            for (int i = 0; i < columns.size(); i++) {
                String cell = row < columns.get(i).size() ? columns.get(i).get(row) : "";
                line.append(cell).append(" ".repeat(widths.get(i) - cell.length()));
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }

    private static List<String> column(Strand thread) {
        var column = new ArrayList<String>();
        column.add("thread " + thread.name());
        thread.steps().stream().map(Step::text).forEach(column::add);
        return column;
    }

    // ---- outcomes

    private static void outcomes(List<String> lines, Part part, Optional<LitmusDevice> device) {
        int width = part.answer().rows().stream()
                .mapToInt(row -> row.text().length())
                .max()
                .orElse(0);
        for (Answer.Row row : part.answer().rows()) {
            String seen = part.seen()
                    .map(its -> "%6d x".formatted(its.counts().getOrDefault(row.ending(), 0)))
                    .orElse("");
            lines.add(("  %s %-" + width + "s  %-8s%s  %s")
                    .formatted(
                            row.isAsked() ? "*" : " ", row.text(), row.level().text(), seen, why(row))
                    .stripTrailing());
        }
        device.ifPresent(on -> {
            lines.add("");
            lines.add("  " + verdict(part, on));
        });
    }

    /// Returns why an outcome can be.
    static String why(Answer.Row row) {
        if (row.isOfAll()) {
            return "";
        }
        return row.needs().isEmpty()
                ? "by any of several freedoms"
                : row.needs().stream()
                        .map(freedom -> freedom.text() + ": " + freedom.meaning())
                        .collect(Collectors.joining("; "));
    }

    /// Returns what a device has shown, in a sentence.
    static String verdict(Part part, LitmusDevice on) {
        if (part.seen().isEmpty()) {
            return on.device().name() + " (" + on.profile().text() + ") cannot run it: " + part.missing();
        }
        String begin = on.device().name() + " (" + on.profile().text() + "), "
                + part.seen().get().runs() + " runs: ";
        if (!part.isRight()) {
            return begin + "FORBIDDEN: "
                    + part.forbidden().stream()
                            .map(ending -> part.answer().names() + " = " + ending)
                            .collect(Collectors.joining(", "));
        }
        int seen = part.seen().get().counts().size();
        return begin + seen + " of " + part.allowed().size() + " outcomes that it may show, and no other";
    }

    /// Returns what a device has shown in all programs, in a sentence.
    static String sum(List<LitmusStory> stories, LitmusDevice on) {
        List<Part> parts =
                stories.stream().flatMap(story -> story.parts().stream()).toList();
        List<Part> tried =
                parts.stream().filter(part -> part.seen().isPresent()).toList();
        int seen = tried.stream()
                .mapToInt(part -> part.seen().orElseThrow().counts().size())
                .sum();
        int forbidden = tried.stream().mapToInt(part -> part.forbidden().size()).sum();
        return "%s (%s): %d of %d programs and cures ran; %d of %d outcomes that it may show, and %d that it may not"
                .formatted(
                        on.device().name(),
                        on.profile().text(),
                        tried.size(),
                        parts.size(),
                        seen - forbidden,
                        tried.stream().mapToInt(part -> part.allowed().size()).sum(),
                        forbidden);
    }

    private static void wrap(List<String> lines, String indent, String text) {
        var line = new StringBuilder(indent);
        for (String word : text.split(" ", -1)) {
            if (line.length() + word.length() > COLUMNS) {
                lines.add(line.toString().stripTrailing());
                line = new StringBuilder(indent);
            }
            line.append(word).append(' ');
        }
        lines.add(line.toString().stripTrailing());
    }
}
