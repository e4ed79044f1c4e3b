package verbena.verbs;

/// Thrown when an object of Verbena is not in a state that allows the call. This is no
/// [java.lang.IllegalStateException], and a `catch` of that does not catch it.
///
/// - It reports a send before RTS, any verb of a closed object, a second thread in a [Waiter], and a handler of
///   messages that waits for its own thread.
/// - A [verbena.verbs.cm.Connection] that has ended throws [ConnectionException], which has the reason.
/// - Memory of the program whose arena is closed throws the JDK's [java.lang.IllegalStateException].
///
/// @since 0.1
public final class InvalidStateException extends VerbsException {
    private static final long serialVersionUID = 1L;

    /// @param message the verb, the object and its state
    public InvalidStateException(String message) {
        super(message, null);
    }
}
