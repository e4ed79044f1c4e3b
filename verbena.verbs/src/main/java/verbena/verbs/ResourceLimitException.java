package verbena.verbs;

/// Thrown when a limit would be exceeded: a full queue, more objects than the device has, or more memory than may be
/// locked. Nothing was changed.
///
/// @since 0.1
public final class ResourceLimitException extends VerbsException {
    private static final long serialVersionUID = 1L;

    private final String resource;
    private final long limit;

    /// @param verb what was asked for
    /// @param resource what there is not enough of, for example `maxSendWr`
    /// @param limit how much there is
    /// @param hint what may help
    public ResourceLimitException(String verb, String resource, long limit, String hint) {
        super(verb + ": " + resource + " is " + limit + "; " + hint, null);
        this.resource = resource;
        this.limit = limit;
    }

    /// Returns the name of the limit's attribute.
    public String resource() {
        return resource;
    }

    /// Returns the limit.
    public long limit() {
        return limit;
    }
}
