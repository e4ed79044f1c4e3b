package verbena.verbs;

/// The object is not in a state that allows the verb: a send posted before RTS, a transition that does not exist,
/// anything on a closed object.
public final class InvalidStateException extends VerbsException {
    private static final long serialVersionUID = 1L;

    public InvalidStateException(String message) {
        super(message, null);
    }
}
