package verbena.tools;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/// The command line within the test's process: what it printed, and its status.
public record Cli(int status, String out, String err) {
    public static Cli run(String... args) {
        return run(new StringWriter(), args);
    }

    /// With an output that another thread can look at meanwhile.
    public static Cli run(StringWriter out, String... args) {
        return run(out, new StringWriter(), args);
    }

    public static Cli run(StringWriter out, StringWriter err, String... args) {
        CommandLine line = Verbena.commandLine();
        line.setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF));
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        int status = line.execute(args);
        return new Cli(status, out.toString(), err.toString());
    }

    public List<String> outLines() {
        return out.lines().toList();
    }

    /// The one line that an error is.
    public String error() {
        List<String> lines = err.lines().toList();
        if (lines.size() != 1) {
            throw new AssertionError("one line of error expected, got:\n" + err);
        }
        return lines.getFirst();
    }

    public static Path golden(String name) {
        return root().resolve("golden").resolve(name);
    }

    public static Path root() {
        return Path.of(System.getProperty("verbena.root"));
    }
}
