package verbena.verbs;

/// Thrown when a connection cannot be made, or ends while a thread waits for it or uses it. The message names the
/// operation, the peer's address and the cause.
///
/// @since 0.1
public final class ConnectionException extends VerbsException {
    private static final long serialVersionUID = 1L;

    /// Causes, by which a program can decide what to do.
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

    /// Returns the cause.
    public Reason reason() {
        return reason;
    }
}
