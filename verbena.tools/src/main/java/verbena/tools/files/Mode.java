package verbena.tools.files;

/// The end that moves the bytes: the sender WRITEs into the receiver's window, or the receiver READs from the
/// sender's.
enum Mode {
    WRITE,
    READ
}
