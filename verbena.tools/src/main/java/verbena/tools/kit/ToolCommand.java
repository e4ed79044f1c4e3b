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

    /// Prints a line of the result.
    public final void print(String line) {
        println(out(), line);
    }

    /// Prints a line on standard error that is not about an error.
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

    /// Returns the exception for a command that was not called rightly.
    public final ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
