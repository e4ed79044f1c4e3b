package verbena.verbs;

/// Thrown when an object is not in a state that allows the verb. Examples are a send posted before RTS, a transition
/// that does not exist, and any verb of a closed object.
///
/// @since 0.1
public final class InvalidStateException extends VerbsException {
    private static final long serialVersionUID = 1L;

    public InvalidStateException(String message) {
        super(message, null);
    }
}
