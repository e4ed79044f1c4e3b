package verbena.verbs;

/// Advice about memory on demand: what requests will do with it soon (`enum ibv_advise_mr_advice`,
/// ibv_advise_mr(3)). Immutable.
///
/// @since 0.1
public enum Advice {
    /// They read it: its pages are brought in for reading.
    PREFETCH,
    /// They write to it: its pages are brought in for writing, which needs [Access#LOCAL_WRITE].
    PREFETCH_WRITE,
    /// They use it: the device learns of the pages that are there, and none is brought in.
    PREFETCH_NO_FAULT;

    /// Returns the value of `enum ibv_advise_mr_advice`.
    public int code() {
        return ordinal();
    }
}
