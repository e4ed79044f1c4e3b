package verbena.verbs;

/// The base of the exceptions of verbs. Its subclasses are a closed set, so that a program can decide by type. The
/// message says what failed and why. Where that is known, it names the verb, the argument and the limit, and says what
/// may help.
///
/// A *request* that fails is never an exception: it ends as a completion with a [WcStatus]. A malformed argument is
/// an [IllegalArgumentException].
///
/// @since 0.1
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
