package verbena.tools.files;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// What both ends' commands have in common.
abstract class FilesCommand implements Callable<Integer> {
    static final String PORT = "7472";
    /// Seconds; an end that is busy says so each second.
    static final int TIMEOUT_MIN = 3;

    static final int TIMEOUT_MAX = 86_400;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "The file with the secret of both ends, which only its owner may read (default: the value of"
                    + " the environment variable VERBENA_SECRET).")
    private @Nullable Path secretFile;

    @Option(names = "--direct", description = "Bypass the page cache for files of this end (O_DIRECT), where possible.")
    boolean direct;

    final Optional<Secret> secret() {
        return Secret.find(secretFile, System.getenv());
    }

    final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    final String name() {
        return spec.qualifiedName();
    }

    final void note(String line) {
        err().println(line);
        err().flush();
    }

    final void range(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw wrong(option + ": " + min + " to " + max + ", got " + value);
        }
    }

    final ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
