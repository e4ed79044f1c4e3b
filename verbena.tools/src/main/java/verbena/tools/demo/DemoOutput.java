package verbena.tools.demo;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.ColorScheme;
import verbena.tools.report.Json;

/// The output of the demo: text for people, or as one JSON object at the end. ASCII only, colours on a terminal
/// only.
final class DemoOutput {
    private final PrintWriter out;
    private final Ansi ansi;
    private final boolean json;
    private final Map<String, Object> object = new LinkedHashMap<>();
    private Map<String, Object> step = object;
    private final List<String> notes = new ArrayList<>();
    private int steps;

    DemoOutput(PrintWriter out, ColorScheme colours, boolean json) {
        this.out = out;
        this.ansi = colours.ansi();
        this.json = json;
    }

    void title(String text) {
        object.put("title", text);
        print(bold(text));
        print("");
    }

    /// Prints an aligned line of the introduction.
    void line(String name, String text) {
        object.put(key(name), text);
        print(String.format(Locale.ROOT, "  %-11s%s", name, text));
    }

    /// Begins a step.
    void step(String operation, String purpose) {
        steps++;
        step = new LinkedHashMap<>();
        step.put("purpose", purpose);
        object.put("step " + steps + " " + operation, step);
        print("");
        print(String.format(Locale.ROOT, "%d %s %s", steps, bold(String.format("%-10s", operation)), purpose));
    }

    /// Prints a fact about the step.
    void fact(String name, String text) {
        step.put(key(name), text);
        print(String.format(Locale.ROOT, "    %-11s%s", name, text));
    }

    /// Prints a check of the step that has succeeded.
    void checked(String text) {
        step.put("checked", text);
        print(String.format(Locale.ROOT, "    %s %s", ansi.string("@|green checked   |@"), text));
    }

    /// Begins a table of figures.
    void table(String title, String... heads) {
        step = new LinkedHashMap<>();
        object.put("figures", step);
        print("");
        print(bold(title));
        print(row("", heads));
    }

    void row(String name, Map<String, Double> numbers, String... cells) {
        step.put(name, new LinkedHashMap<>(numbers));
        print(row(name, cells));
    }

    /// Prints a sentence about the figures.
    void note(String text) {
        if (!text.isBlank()) {
            notes.add(text.strip().replaceAll(" {2,}", ": "));
            object.put("notes", notes);
        }
        print(("  " + text).stripTrailing());
    }

    /// Prints that all steps have succeeded.
    void verified(String text) {
        object.put("verified", true);
        print("");
        print(ansi.string("@|bold,green " + text + "|@"));
    }

    /// Ends the output.
    void end() {
        if (json) {
            out.println(Json.format(object));
            out.flush();
        }
    }

    private static String row(String name, String... cells) {
        var line = new StringBuilder(String.format(Locale.ROOT, "  %-34s", name));
        for (String cell : cells) {
            line.append(String.format(Locale.ROOT, "%16s", cell));
        }
        return line.toString().stripTrailing();
    }

    private void print(String line) {
        if (!json) {
            out.println(line);
            out.flush();
        }
    }

    private String bold(String text) {
        return ansi.string("@|bold " + text + "|@");
    }

    private static String key(String name) {
        return name.strip().replace(' ', '_');
    }
}
