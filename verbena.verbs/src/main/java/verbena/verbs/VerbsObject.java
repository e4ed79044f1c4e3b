package verbena.verbs;

/// What is made by one verb and given back by another. Closing is idempotent, and safe while work is in flight. An
/// object that others were made from closes only after them.
///
/// Any thread may close it, several at once too: each call returns when the object is closed, whichever thread does
/// the work. What the object held, memory above all, may be used again then.
public interface VerbsObject extends AutoCloseable {
    /// Gives the object back.
    ///
    /// @throws InUseException when objects made from it are still open; nothing was closed then
    @Override
    void close();

    /// Whether [#close()] has been done. False while a thread is closing it, though its verbs already refuse.
    boolean isClosed();
}
