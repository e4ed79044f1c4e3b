package verbena.tools.files;

/// The decision of the receiver about an entry; on the wire its ordinal.
enum Verdict {
    /// Its bytes are wanted.
    SEND,
    /// A folder or link: it is there now.
    MADE,
    /// A file of this size and time is there.
    SAME,
    /// An entry that would be copied, but this is a rehearsal.
    WOULD,
    /// An entry that cannot be copied.
    REFUSED
}
