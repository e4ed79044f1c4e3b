package verbena.verbs;

import java.util.List;

/// Thrown when an object cannot be closed, or changed, because others still need it. Nothing was changed. Objects
/// that the program has not made itself belong to a connection, a stream or a worker: closing that closes them.
///
/// @since 0.1
public final class InUseException extends VerbsException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> children;

    /// @param what the object, for example `protection domain 3`
    /// @param children the objects that have to be closed first
    public InUseException(String what, List<String> children) {
        super(
                "close: " + what + " is in use by " + String.join(", ", children)
                        + "; close those first, or the connection, stream or worker that has made them",
                null);
        this.children = List.copyOf(children);
    }

    /// Returns the objects that have to be closed first.
    public List<String> children() {
        return children == null ? List.of() : children;
    }
}
