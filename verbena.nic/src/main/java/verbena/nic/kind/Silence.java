package verbena.nic.kind;

/// Keeps what everybody can cause from filling a log: after one message there is none for a while. Confined to
/// whoever uses it.
final class Silence {
    private static final long NANOS = 10_000_000_000L;

    private boolean isBroken;
    private long until;

    /// Whether nothing is to be said now; when something is, it is quiet from here on.
    boolean isQuiet(long now) {
        if (isBroken && now - until < 0) {
            return true;
        }
        isBroken = true;
        until = now + NANOS;
        return false;
    }
}
