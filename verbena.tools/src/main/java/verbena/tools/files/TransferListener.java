package verbena.tools.files;

/// A listener for the events of a transfer, on any thread. Names are legible already.
interface TransferListener {
    /// Called with the number of files and bytes that will be looked at.
    default void total(long files, long bytes) {}

    /// Called when a file's bytes begin to move.
    ///
    /// @param kept bytes that were there from an earlier attempt
    default void begins(String name, long size, long kept) {}

    default void moved(long bytes) {}

    /// Called when a file is complete and has its name.
    default void done(String name, long size) {}

    /// Called when a folder or link was made.
    default void made(String name) {}

    /// Called for a file that was there already.
    default void same(String name, long size) {}

    /// Called in a rehearsal for an entry that would be copied.
    default void would(String name, long size) {}

    /// Called for an entry that stays behind, which is no error.
    default void leftOut(String name, String why) {}

    default void failed(String name, String why) {}
}
