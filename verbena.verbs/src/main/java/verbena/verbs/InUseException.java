package verbena.verbs;

import java.util.List;

/// Thrown when an object cannot be closed, or changed, because others still need it. The call has changed nothing.
/// Objects that the program has not made itself belong to a connection, a stream or a worker: closing that closes
/// them.
///
/// @since 0.1
public final class InUseException extends VerbsException {
    private static final long serialVersionUID = 1L;

    private final String[] children;

    /// @param verb that failed: `close` or `reregister`
    /// @param what the object, for example `protection domain 3`
    /// @param children the objects that have to be closed first
    public InUseException(String verb, String what, List<String> children) {
        super(
                verb + ": " + what + " is in use by " + String.join(", ", children)
                        + "; close those first, or the connection, stream or worker that has made them",
                null);
        this.children = children.toArray(String[]::new);
    }

    /// Returns the names of the objects that have to be closed first.
    public List<String> children() {
        return List.of(children);
    }
}
