package verbena.verbs;

/// A connection that could not be made, or has ended while something waited for it.
public final class ConnectionException extends VerbsException {
    private static final long serialVersionUID = 1L;

    /// Reasons, for programs to decide by.
    public enum Reason {
        /// No device of this host reaches the address, or the port is taken.
        ADDRESS,
        /// The peer does not answer.
        UNREACHABLE,
        /// The peer's communication manager refuses: no program listens, or it has no room.
        REFUSED,
        /// The peer's application refuses.
        REJECTED,
        /// The attempt took longer than it was allowed to.
        TIMEOUT,
        /// A request failed, which ends the connection, or this side could not go on.
        FAILED,
        /// The connection has ended, by the peer or the network.
        DISCONNECTED,
        /// This side has closed it.
        CLOSED
    }

    private final Reason reason;

    /// @param message what was being done, with the peer's address, and why it did not work
    public ConnectionException(Reason reason, String message) {
        super(message, null);
        this.reason = reason;
    }

    /// Creates an exception with a cause.
    public ConnectionException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
