package verbena.verbs;

/// Thrown when a verb cannot be carried out. The kinds are a closed set, so that a program can decide by type. The
/// message names the verb, the argument and the limit, and says what may help.
///
/// A failed *request* is never an exception: it ends as a completion with a [WcStatus]. A malformed argument is an
/// [IllegalArgumentException].
public abstract sealed class VerbsException extends RuntimeException
        permits ConnectionException,
                DeviceException,
                InUseException,
                InvalidAttributesException,
                InvalidStateException,
                ResourceLimitException,
                UnsupportedException {
    private static final long serialVersionUID = 1L;

    VerbsException(String message, @org.jspecify.annotations.Nullable Throwable cause) {
        super(message, cause);
    }
}
