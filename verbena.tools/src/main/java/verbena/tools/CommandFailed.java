package verbena.tools;

import org.jspecify.annotations.Nullable;

/// A command could not do what it was asked for. Its message is one line for the user: what failed, on what, and what
/// may help. Ends the command with status 1.
final class CommandFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CommandFailed(String message) {
        this(message, null);
    }

    CommandFailed(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
