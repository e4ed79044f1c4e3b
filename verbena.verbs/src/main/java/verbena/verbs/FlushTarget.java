package verbena.verbs;

/// The reach of a FLUSH: what earlier writes have reached when it completes ([SendBatch#flush], IBTA A19). Immutable.
///
/// @since 0.1
@Preview
public enum FlushTarget {
    /// Visible to every reader at the peer; needs the right [Access#FLUSH_GLOBAL].
    GLOBAL,
    /// Memory that survives a loss of power; needs the right [Access#FLUSH_PERSISTENT].
    PERSISTENT
}
