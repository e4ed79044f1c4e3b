package verbena.abi;

/// The struct that a pointer points to no longer says what it said: `ENOENT`, as from the kernel, which goes
/// by the struct's `handle` and by the device that its `context` names.
final class OverwrittenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OverwrittenException(String message) {
        super(message);
    }
}
