package verbena.verbs;

/// The reach of a FLUSH, to which it carries earlier writes ([SendBatch#flush], IBTA A19).
@Preview
public enum FlushTarget {
    /// Visible to every reader at the peer; needs the right [Access#FLUSH_GLOBAL].
    GLOBAL,
    /// Memory that survives a loss of power; needs the right [Access#FLUSH_PERSISTENT].
    PERSISTENT
}
