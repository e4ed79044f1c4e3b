package verbena.tools.kit;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A command could not do what it was asked for. Its message is one line for the user: what failed, on what, and
/// what may help. Ends the command with the status that it has for failures, 1 for most, or with one of its own.
public final class CommandFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    public CommandFailed(String message) {
        this(message, null);
    }

    public CommandFailed(String message, @Nullable Throwable cause) {
        super(message, cause);
        status = 0;
    }

    /// @param status what the command ends with, of which the shell sees the lowest byte
    public CommandFailed(int status, String message) {
        super(message);
        this.status = status;
    }

    /// Returns the failure for a file, or a stream, that could not be read or written.
    ///
    /// @param what what was being done, with the file's name
    public static CommandFailed io(String what, IOException e) {
        return new CommandFailed(what + ": " + Failures.why(e), e);
    }

    /// Returns the status that the command has to end with.
    ///
    /// @param usual when this failure has no status of its own
    public int status(int usual) {
        return (status & 0xFF) == 0 ? usual : status;
    }
}
