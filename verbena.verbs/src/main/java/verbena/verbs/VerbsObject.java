package verbena.verbs;

/// An object that one verb makes and [#close()] gives back. Closing is idempotent, and safe while requests are
/// outstanding. An object that others were made from closes only after them.
///
/// Any thread may close it, several at once too: each call returns when the object is closed, whichever thread does
/// the work. The memory that the object held may be reused then.
public interface VerbsObject extends AutoCloseable {
    /// Gives the object back.
    ///
    /// @throws InUseException when objects made from it are still open; nothing was closed then
    @Override
    void close();

    /// Returns whether [#close()] has been done. False while a thread is closing it, though its verbs already
    /// refuse.
    boolean isClosed();
}
