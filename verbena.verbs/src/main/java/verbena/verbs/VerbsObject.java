package verbena.verbs;

/// What is made by one verb and given back by another. Closing is idempotent, and safe while work is in flight. An
/// object that others were made from closes only after them.
public interface VerbsObject extends AutoCloseable {
    /// Gives the object back.
    ///
    /// @throws InUseException when objects made from it are still open; nothing was closed then
    @Override
    void close();

    /// Whether [#close()] has been done.
    boolean isClosed();
}
