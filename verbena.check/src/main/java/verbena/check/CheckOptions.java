package verbena.check;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import verbena.verbs.internal.Providers;

/// The user's choices for the checks of a process: the value of the property `verbena.check`, or of the variable
/// `VERBENA_CHECK`. It is `on`, or a list with commas of:
///
/// | option | meaning |
/// |---|---|
/// | `without=V-A+V-B` | these rules are off |
/// | `only=V-A+V-B` | these rules alone are on |
/// | `json=FILE`, `sarif=FILE`, `html=FILE` | a report in this form too |
/// | `suppress=FILE` | findings that are known, see [Suppressions] |
/// | `fail` | the process ends with status 1 for findings of the grade luck, with 2 for errors |
/// | `quiet` | no text when there are no findings |
/// | `log=FILE` | a log of requests, for races with other processes |
/// | `threads` | threads are ordered only by what can be seen |
/// | `record=FOLDER` | what the program posts is written to a file in this folder; rules are off unless `only` names
/// some |
///
/// `%p` in the name of what is written is the number of this process.
public final class CheckOptions {
    private final Map<String, String> values = new TreeMap<>();
    private final Suppressions suppressions;

    private CheckOptions(String text) {
        for (String each : text.split(",", -1)) {
            String[] part = each.strip().split("=", 2);
            switch (part[0]) {
                case "", "on" -> {}
                case "fail", "quiet", "threads" -> values.put(part[0], "");
                case "without", "only", "json", "sarif", "html", "suppress", "log", "record" -> {
                    if (part.length == 1 || part[1].isEmpty()) {
                        throw new IllegalArgumentException(Providers.LAYER + ": " + part[0] + " needs a value");
                    }
                    values.put(part[0], part[1]);
                }
                default ->
                    throw new IllegalArgumentException(
                            Providers.LAYER + ": there is no option \"" + part[0] + "\" in \"" + text + "\"");
            }
        }
        String file = values.get("suppress");
        suppressions = file == null ? Suppressions.none() : Suppressions.of(lines(Path.of(file)));
    }

    /// Reads options.
    ///
    /// @throws IllegalArgumentException when there is a mistake in them; the message names it
    public static CheckOptions of(String text) {
        return new CheckOptions(text);
    }

    /// Returns those of this process.
    public static CheckOptions ofProcess() {
        return of(Providers.layer());
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(Providers.LAYER + ": suppress: " + e.getMessage(), e);
        }
    }

    /// Returns the rules that are on.
    public Set<Rule> rules() {
        if (recording().isPresent() && !values.containsKey("only")) {
            return EnumSet.noneOf(Rule.class);
        }
        Set<Rule> on = values.containsKey("only") ? named("only") : EnumSet.allOf(Rule.class);
        if (values.containsKey("without")) {
            on.removeAll(named("without"));
        }
        return on;
    }

    /// Returns whether threads are ordered only by what can be seen.
    public boolean areThreadsApart() {
        return values.containsKey("threads");
    }

    /// Returns the file for the log of requests; empty when none is wanted.
    public Optional<Path> log() {
        return file("log");
    }

    private Set<Rule> named(String option) {
        Set<Rule> all = EnumSet.noneOf(Rule.class);
        for (String each : values.getOrDefault(option, "").split("\\+", -1)) {
            all.add(Rule.of(each));
        }
        return all;
    }

    /// Reports what was found: as text, and in the files that the user wants.
    ///
    /// @return the status for the process; 0 when it is to be its own
    public int report(Findings findings, PrintWriter out) {
        List<Finding> found = findings.all().stream()
                .filter(finding -> !suppressions.covers(finding))
                .toList();
        if (!found.isEmpty() || !(values.containsKey("quiet") || rules().isEmpty())) {
            out.print(Reports.text(found, findings.beyond()));
            out.flush();
        }
        file("json").ifPresent(file -> write(file, Reports.json(found)));
        file("sarif").ifPresent(file -> write(file, Reports.sarif(found)));
        file("html").ifPresent(file -> write(file, Reports.html(found)));
        return values.containsKey("fail") ? status(found) : 0;
    }

    /// Returns the folder for a recording of what the program posts; empty for none.
    public Optional<Path> recording() {
        return file("record");
    }

    private Optional<Path> file(String option) {
        return Optional.ofNullable(values.get(option))
                .map(name -> Path.of(
                        name.replace("%p", Long.toString(ProcessHandle.current().pid()))));
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(Providers.LAYER + ": " + e.getMessage(), e);
        }
    }

    private static int status(List<Finding> found) {
        int status = 0;
        for (Finding each : found) {
            status = Math.max(
                    status,
                    switch (each.rule().grade()) {
                        case ERROR -> 2;
                        case LUCK -> 1;
                        case COST -> 0;
                    });
        }
        return status;
    }
}
