package verbena.messages;

/// A call that has no answer, though its peer lives.
public final class CallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// Reasons, for programs to decide by.
    public enum Reason {
        /// The peer's handler has failed, or it has none.
        FAILED,
        /// The answer did not come in time. The peer was told to stop; it may have carried the call out.
        TIMEOUT
    }

    private final Reason reason;

    CallException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
