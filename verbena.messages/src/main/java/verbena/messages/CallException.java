package verbena.messages;

/// Thrown when a call has no answer, though the connection to its peer works.
///
/// @since 0.1
public final class CallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// Causes, by which a program can decide what to do.
    public enum Reason {
        /// The peer's handler has thrown an exception, or there is none.
        FAILED,
        /// The answer did not arrive in time. The peer was asked to stop, but it may have carried the call out.
        TIMEOUT
    }

    private final Reason reason;

    CallException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /// Returns the cause.
    public Reason reason() {
        return reason;
    }
}
