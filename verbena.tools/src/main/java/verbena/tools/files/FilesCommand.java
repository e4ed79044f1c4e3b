package verbena.tools.files;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import verbena.tools.kit.ToolCommand;

/// The base of both ends' commands.
abstract class FilesCommand extends ToolCommand {
    static final String PORT = "7472";
    /// Seconds; an end that is busy says so each second.
    static final int TIMEOUT_MIN = 3;

    static final int TIMEOUT_MAX = 86_400;

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

    final String name() {
        return spec().qualifiedName();
    }
}
