package verbena.tools.check;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.check.CheckOptions;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.races.RaceMerge;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// `verbena check merge`: races between processes, from their logs.
@Command(
        name = "merge",
        header = "Find races between processes, from the logs of their checks.",
        description = {
            "",
            "Each process writes a log with the option log=FILE of its checks, as in VERBENA_CHECK=log=a.log or"
                    + " 'verbena run --check=log=b.log'. A race is told with the places in both processes. Status 1:"
                    + " something works by luck. Status 2: there are errors."
        })
public final class MergeCommand extends ToolCommand {
    @Parameters(paramLabel = "LOG", arity = "1..*", description = "The log of each process.")
    private List<Path> logs = List.of();

    @Option(
            names = {"-o", "--options"},
            paramLabel = "OPTIONS",
            defaultValue = "on",
            description = "Rules, reports and suppressions, as docs/check.md has them: json=FILE,suppress=FILE.")
    private String options;

    @Override
    public Integer call() {
        CheckOptions checks;
        Set<Rule> rules;
        try {
            checks = CheckOptions.of(options + ",fail");
            rules = checks.rules();
        } catch (IllegalArgumentException e) {
            throw wrong("--options: " + e.getMessage());
        }
        var findings = new Findings(EnumSet.copyOf(rules));
        try {
            RaceMerge.tell(logs, findings);
        } catch (IOException e) {
            String file = e instanceof FileSystemException of ? of.getFile() : "the logs";
            throw CommandFailed.io("cannot read " + file, e);
        } catch (IllegalArgumentException e) {
            throw wrong("LOG: " + e.getMessage());
        }
        return checks.report(findings, out());
    }
}
