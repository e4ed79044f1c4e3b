package verbena.verbs;

/// A limit would be exceeded: a full queue, more objects than the device has, more memory than may be locked.
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

    /// Returns the limit, by the name of its attribute.
    public String resource() {
        return resource;
    }

    /// Returns how much there is.
    public long limit() {
        return limit;
    }
}
