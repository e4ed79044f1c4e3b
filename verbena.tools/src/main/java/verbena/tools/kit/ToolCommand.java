package verbena.tools.kit;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// A command that prints lines, and checks its options. Its value is the exit status.
public abstract class ToolCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    public final CommandSpec spec() {
        return spec;
    }

    public final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    public final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /// A line of what the command is for.
    public final void print(String line) {
        println(out(), line);
    }

    /// A line on standard error that is none about an error.
    public final void note(String line) {
        println(err(), line);
    }

    private static void println(PrintWriter to, String line) {
        to.println(line);
        to.flush();
    }

    /// Checks the value of an option.
    ///
    /// @throws ParameterException when it is out of range
    public final void range(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw wrong(option + ": " + min + " to " + max + ", got " + value);
        }
    }

    /// The command was not called rightly.
    public final ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
