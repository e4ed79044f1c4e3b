package verbena.tools.files;

/// What the receiver does with an entry; on the wire its ordinal.
enum Verdict {
    /// Its bytes are wanted.
    SEND,
    /// A folder or link: it is there now.
    MADE,
    /// A file of this size and time is there.
    SAME,
    /// It would be copied, but this is a rehearsal.
    WOULD,
    /// It cannot be.
    REFUSED
}
