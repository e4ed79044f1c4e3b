package verbena.nic.kind;

/// A pause that keeps messages that any peer can cause from filling a log: after one message there is none for a
/// while. Confined to the thread of its owner.
final class LogPause {
    private static final long NANOS = 10_000_000_000L;

    private boolean hasBegun;
    private long until;

    /// Returns whether nothing is to be logged now; when something is, the pause begins.
    boolean isPaused(long now) {
        if (hasBegun && now - until < 0) {
            return true;
        }
        hasBegun = true;
        until = now + NANOS;
        return false;
    }
}
