package verbena.lab;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.opentest4j.TestAbortedException;

/// `./verbena lab [--list] [PATTERN | --share N/M]`: runs the checks whose names have the pattern, or a share of them,
/// and prints a line for each.
/// Ends with 0 when none failed, or when there is no lab: nothing was checked then, and nothing has failed. Ends
/// with 1 otherwise.
public final class Main implements TestExecutionListener {
    private static final int LONGEST = 5;

    private record Timed(String name, double seconds) {}

    private final PrintStream out;
    private final List<Timed> passed = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();
    private final List<String> findings = new ArrayList<>();
    private final Map<String, Long> begun = new HashMap<>();
    private String skipped = "";

    private Main(PrintStream out) {
        this.out = out;
    }

    /// Runs the checks.
    ///
    /// @param arguments perhaps `--list`, perhaps a pattern or a share
    public static void main(String[] arguments) {
        List<String> words = new ArrayList<>(List.of(arguments));
        boolean list = words.remove("--list");
        List<Check> among = Table.checks();
        if (words.size() == 2 && words.getFirst().equals("--share")) {
            String[] share = words.getLast().split("/", -1);
            among = Table.share(Integer.parseInt(share[0]), Integer.parseInt(share[1]));
            words.clear();
        }
        if (words.size() > 1 || words.stream().anyMatch(word -> word.startsWith("-"))) {
            System.err.println("verbena: lab: takes --list, --deep or one pattern; see verbena lab --help");
            System.exit(2);
        }
        String pattern = words.isEmpty() ? "" : words.getFirst();
        List<String> wanted =
                among.stream().map(Check::name).filter(Table.matching(pattern)).toList();
        if (list) {
            wanted.forEach(System.out::println);
            return;
        }
        if (wanted.isEmpty()) {
            System.err.println("verbena: lab: no check's name has \"" + pattern + "\"; --list tells them");
            System.exit(2);
        }
        System.setProperty(LabTest.NAMES, String.join("\n", wanted));
        var main = new Main(System.out);
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(LabTest.class))
                                .build(),
                        main);
        System.exit(main.summary(Table.checks().size() - wanted.size()));
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        begun.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (Lab.isEnding()) {
            return;
        }
        String name = test.getDisplayName();
        String why = result.getThrowable().map(Main::told).orElse("");
        if (!test.isTest()) {
            if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
                skipped = why;
            } else if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                failed.add("the lab");
                out.println("lab: FAILED  " + why.replace("\n", "\nlab: "));
            }
            return;
        }
        double seconds = (System.nanoTime() - begun.getOrDefault(test.getUniqueId(), System.nanoTime())) / 1e9;
        String time = " (" + time(seconds) + ")";
        if (result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
            passed.add(new Timed(name, seconds));
            out.println("lab: ok      " + name + time);
        } else {
            failed.add(name);
            out.println("lab: FAILED  " + name + time + "\nlab:     " + why.replace("\n", "\nlab: "));
        }
    }

    @Override
    public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
        if (Lab.isEnding()) {
            return;
        }
        entry.getKeyValuePairs().forEach((key, text) -> {
            if (key.equals(Runner.Kind.NOTE.name())) {
                out.println("lab:         " + text);
            } else {
                findings.add(text.lines().findFirst().orElse(""));
                out.println("lab: NOTICE  " + text.replace("\n", "\nlab: "));
            }
        });
    }

    private static String told(Throwable thrown) {
        boolean isOurs = thrown instanceof AssertionError || thrown instanceof TestAbortedException;
        return isOurs ? String.valueOf(thrown.getMessage()) : thrown.toString();
    }

    private static String time(double seconds) {
        return String.format("%.1f s", seconds);
    }

    /// @return the status to end with
    private int summary(int unwanted) {
        if (Lab.isEnding()) {
            return 1;
        }
        if (!skipped.isEmpty()) {
            out.println("lab: skipped: " + skipped.replaceFirst("^Assumption failed: ", ""));
            return 0;
        }
        passed.stream()
                .sorted(Comparator.comparingDouble(Timed::seconds).reversed())
                .limit(LONGEST)
                .forEach(timed -> out.println("lab: long    " + timed.name() + " (" + time(timed.seconds()) + ")"));
        findings.forEach(text -> out.println("lab: notice  " + text));
        failed.forEach(name -> out.println("lab: failed  " + name));
        out.println("lab: " + passed.size() + " passed, " + failed.size() + " failed, " + unwanted + " skipped");
        return failed.isEmpty() ? 0 : 1;
    }
}
