package verbena.tools.files;

/// Hears what becomes of a transfer, on any thread. Names are legible already.
interface TransferListener {
    /// What will be looked at.
    default void total(long files, long bytes) {}

    /// A file's bytes begin to move.
    ///
    /// @param kept bytes that were there from an earlier attempt
    default void begins(String name, long size, long kept) {}

    default void moved(long bytes) {}

    /// It is complete, and has its name.
    default void done(String name, long size) {}

    /// A folder or link was made.
    default void made(String name) {}

    /// It was there already.
    default void same(String name, long size) {}

    /// A rehearsal: it would be copied.
    default void would(String name, long size) {}

    /// It stays behind, which is no error.
    default void leftOut(String name, String why) {}

    default void failed(String name, String why) {}
}
