package verbena.tools.device;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.WcStatus;

/// `verbena status`: the page of a completion status, as it is in docs/status.
@Command(
        name = "status",
        header = "Explain a completion status: checks, causes, remedies.",
        description = {
            "",
            "Shows what a status means, which side noticed it, which checks lead to it, its usual causes and what to"
                    + " try. Without a name it lists all."
        })
public final class StatusCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "STATUS",
            description = "Its name, with or without IBV_WC_, or its number: RETRY_EXC_ERR, 12.")
    private @Nullable String name;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        if (name == null) {
            for (WcStatus status : WcStatus.values()) {
                out.printf(Locale.ROOT, "%3d  %-20s %s%n", status.code(), status, status.label());
            }
        } else {
            out.print(page(named(name)));
        }
        out.flush();
    }

    private WcStatus named(String text) {
        String wanted = text.toUpperCase(Locale.ROOT).replaceFirst("^IBV_WC_", "");
        Optional<WcStatus> found = Arrays.stream(WcStatus.values())
                .filter(status -> status.name().equals(wanted)
                        || Integer.toString(status.code()).equals(wanted))
                .findFirst();
        return found.orElseThrow(() -> new ParameterException(
                spec.commandLine(), "STATUS: there is no '" + text + "'; 'verbena status' lists all"));
    }

    private static String page(WcStatus status) {
        String resource = "status/" + status + ".md";
        try (InputStream in = StatusCommand.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("the page " + resource + " is missing from this build");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new CommandFailed("cannot read " + resource + ": " + e.getMessage(), e);
        }
    }
}
