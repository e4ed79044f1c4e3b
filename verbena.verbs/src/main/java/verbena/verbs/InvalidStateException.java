package verbena.verbs;

/// Thrown when an object of Verbena is not in a state that allows the call. It is a [VerbsException], and not
/// an [IllegalStateException]. Examples are a send posted before RTS, any verb of a closed object, a second
/// thread in a [Waiter], and a handler that waits for its own thread.
///
/// Memory of the program that is closed is not an object of Verbena. It throws the JDK's [IllegalStateException].
///
/// @since 0.1
public final class InvalidStateException extends VerbsException {
    private static final long serialVersionUID = 1L;

    /// @param message the verb, the object and its state
    public InvalidStateException(String message) {
        super(message, null);
    }
}
