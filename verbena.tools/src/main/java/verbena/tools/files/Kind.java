package verbena.tools.files;

/// The kind of a message; its first byte on the wire is the ordinal. Numbers are big-endian, text is UTF-8, names
/// are the file system's bytes. The end that sends a file's bytes is the sender, be it client or server.
enum Kind {
    /// Client, first of all: magic (8), version (2), chunk bytes (4), slots (4), mode (1), checksum (1), nonce
    /// (32).
    HELLO,
    /// Server: version (2), whether a secret is wanted (1), chunk bytes (4), slots (4), nonce (32).
    CHALLENGE,
    /// Client: HMAC (32), zeroes when no secret is wanted.
    PROOF,
    /// Server: HMAC (32), zeroes when no secret is wanted.
    WELCOME,
    /// Client: what it wants to do. See [Request].
    REQUEST,
    /// Server: its window: address (8), key (4), bytes (8); zeroes when it exposes none.
    READY,
    /// Sender: files (8) and bytes (8) that will be offered.
    TOTAL,
    /// Sender: files, folders and links, one or more. See [Entry].
    ENTRY,
    /// Sender: instead of an ENTRY, that id (4) is not sent, and whether that is an error (1); its name and
    /// why, as text.
    NOTE,
    /// Receiver, to an ENTRY: for each of it id (4), first chunk wanted (8; -1 for none), [Verdict] (1), text.
    WANT,
    /// Sender: the bytes of slot (4) are of file id (4), chunk number (8), so many (4), with this checksum.
    CHUNK,
    /// Receiver: slot (4) is free; its chunk is in the file.
    FREE,
    /// Receiver, to CHUNK and PACK: slot (4) did not hold what its checksum says; once more.
    AGAIN,
    /// Sender: file id (4) is complete, with this digest (32).
    END,
    /// Receiver, to END: file id (4) has its name; or text that says why not.
    DONE,
    /// Receiver: it cannot go on with file id (4); text says why. The answer is FAILED.
    FAULT,
    /// Sender: no more of file id (4); text says why.
    FAILED,
    /// Receiver, to FAILED and NOTE: id (4) means nothing any more.
    DROPPED,
    /// Sender: no more entries.
    FINISH,
    /// Receiver, to FINISH: folders have their times; the request is done.
    BYE,
    /// Either, within a request: it works on something with its files, and has nothing else to say for a second.
    BUSY,
    /// Either: the connection is of no more use; text says why. Its code stays, whatever the version.
    ABORT,
    /// Sender: slot (4) has so many bytes (4) with this checksum: whole files, one behind the other. For each of
    /// them its id (4) and a text: empty, or why its bytes are not among them.
    PACK,
    /// Receiver, to PACK: slot (4) is free. For each of its files, in its order, a text: empty when the file has
    /// its name, or why not.
    STORED;

    private static final Kind[] ALL = values();

    /// @throws verbena.tools.kit.CommandFailed when there is no such kind
    static Kind of(byte code) {
        if (code < 0 || code >= ALL.length) {
            throw new verbena.tools.kit.CommandFailed("the peer sent a message of unknown kind " + code);
        }
        return ALL[code];
    }
}
