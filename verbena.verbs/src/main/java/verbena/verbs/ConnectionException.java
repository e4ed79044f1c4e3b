package verbena.verbs;

/// Thrown when a connection cannot be made, or ends while a thread waits for it or uses it. The message names the
/// cause, and mostly the operation and an address too. The connections of `verbena.verbs.cm` and the peers of
/// `verbena.messages` throw it.
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
        /// A time limit of the program passed, of connecting or of a blocking request. The message names the limit.
        TIMEOUT,
        /// A request, a device or the network failed, which ends the connection, or this side could not go on: a
        /// completion queue overflowed.
        FAILED,
        /// The peer has ended the connection.
        DISCONNECTED,
        /// A thread of this side was interrupted in a blocking call, which has ended the connection.
        INTERRUPTED,
        /// This side has closed it.
        CLOSED
    }

    private final Reason reason;

    /// @param message what was being done, with the peer's address if there is one, and why it did not work
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
