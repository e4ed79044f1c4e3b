package verbena.tools.check;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.conformance.Case;
import verbena.conformance.Judgement;
import verbena.conformance.Outcome;
import verbena.conformance.Result;
import verbena.conformance.Suite;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.verbs.Device;

/// `verbena conform`: does a device keep what the verbs promise?
@Command(
        name = "conform",
        header = "Try on a device every promise of the verbs.",
        description = {
            "",
            "Both ends are in this process and use the same device, unless --peer names another. A device has to refuse what it does not declare;"
                    + " known deviations are listed with their reasons. The status is 0 when every promise is"
                    + " kept or declared not to be, and 1 when one is broken. Then the report tells what was expected, what"
                    + " happened, and what was done before.",
        })
public final class ConformCommand extends ToolCommand {
    @Parameters(paramLabel = "DEVICE", arity = "0..*", description = "Names of devices; see 'verbena devices'.")
    private List<String> devices = List.of();

    @Option(
            names = "--case",
            paramLabel = "PATTERN",
            defaultValue = "",
            description = "Only cases whose name contains this; * stands for anything, as in 'atomics.*add'.")
    private String pattern;

    @Option(names = "--list", description = "List the cases, what each needs of a device, and end.")
    private boolean list;

    @Option(
            names = "--peer",
            paramLabel = "DEVICE",
            description = "The device of the second end, which the first one reaches. Default: the same.")
    private @Nullable String peer;

    @Option(
            names = "--kind",
            paramLabel = "KIND",
            description = "The kind of device whose known deviations count. Default: by the name, rxe for rxe0.")
    private @Nullable String kind;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "Write the report: Markdown, or JSON when the name ends in .json.")
    private @Nullable Path report;

    @Override
    public Integer call() throws InterruptedException {
        List<Case> cases = Suite.cases(pattern);
        if (cases.isEmpty()) {
            throw wrong("--case: no case has '" + pattern + "' in its name");
        }
        PrintWriter out = out();
        if (list) {
            cases.forEach(each -> out.println(line(each)));
            out.printf(Locale.ROOT, "%d cases%n", cases.size());
            out.flush();
            return 0;
        }
        if (devices.isEmpty()) {
            throw wrong("DEVICE: at least one is needed, as rocev2");
        }
        var judgements = new ArrayList<Judgement>();
        for (String name : devices) {
            judgements.add(judge(out, name, cases));
        }
        ConformReport.summary(judgements).forEach(out::println);
        out.flush();
        if (report != null) {
            write(report, judgements);
        }
        return judgements.stream().allMatch(Judgement::isGreen) ? 0 : 1;
    }

    private static String line(Case each) {
        String needs = each.needs().stream().map(Enum::name).collect(Collectors.joining(" "));
        return each.name() + (needs.isEmpty() ? "" : "  (needs " + needs + ")");
    }

    private Judgement judge(PrintWriter out, String name, List<Case> cases) throws InterruptedException {
        Device device = Device.named(name);
        var suite =
                new Suite(device, peer == null ? device : Device.named(peer), kind == null ? Suite.kindOf(name) : kind);
        long started = System.nanoTime();
        var topic = new Topic(out);
        out.println(name + ": " + cases.size() + " cases");
        Judgement judgement = suite.run(cases, topic::add);
        topic.end();
        out.printf(Locale.ROOT, "%s: %.1f s%n%n", name, (System.nanoTime() - started) / 1e9);
        out.flush();
        return judgement;
    }

    private static void write(Path report, List<Judgement> judgements) {
        boolean json = report.toString().toLowerCase(Locale.ROOT).endsWith(".json");
        try {
            Files.writeString(report, json ? ConformReport.json(judgements) : ConformReport.markdown(judgements));
        } catch (IOException e) {
            throw CommandFailed.io("--report: cannot write " + report, e);
        }
    }

    /// Progress: a line for each topic when it is done, and what is broken at once.
    private static final class Topic {
        private final PrintWriter out;
        private final List<Result> results = new ArrayList<>();

        Topic(PrintWriter out) {
            this.out = out;
        }

        void add(Result result) {
            if (!results.isEmpty()
                    && !results.getFirst().tried().topic().equals(result.tried().topic())) {
                end();
            }
            results.add(result);
            switch (result.outcome()) {
                case Outcome.Broken(String what, List<String> story) -> {
                    out.println("  BROKEN    " + result.tried().name());
                    out.println("    " + what);
                    story.forEach(line -> out.println("      " + line));
                }
                case Outcome.Deviates(String reason, String what) -> {
                    out.println("  deviates  " + result.tried().name() + ": " + reason);
                    out.println("    " + what.lines().findFirst().orElse(""));
                }
                case Outcome.Kept(boolean unexpectedly)
                when unexpectedly ->
                    out.println("  better    " + result.tried().name() + ": declared to deviate, and does not");
                case Outcome.Kept _, Outcome.NotSupported _ -> {}
            }
            out.flush();
        }

        void end() {
            if (results.isEmpty()) {
                return;
            }
            var its = new Judgement("", "", results).count();
            out.printf(Locale.ROOT, "  %-14s %s%n", results.getFirst().tried().topic(), ConformReport.words(its));
            out.flush();
            results.clear();
        }
    }
}
