package verbena.tools.perf;

import java.time.Duration;

/// Watches over a loop that waits: whether the thread is interrupted, or has waited too long. It looks at the
/// clock only now and then.
final class Patience {
    private static final int LOOKS = 1 << 12;

    private final long nanos;
    private int idle;
    private long since;
    private boolean watching;

    Patience(Duration patience) {
        nanos = patience.toNanos();
    }

    /// Something has happened.
    void progress() {
        watching = false;
    }

    /// Nothing has happened; whether that has been so for too long.
    boolean isOver() {
        if ((++idle & LOOKS - 1) != 0) {
            return false;
        }
        long now = System.nanoTime();
        if (!watching) {
            watching = true;
            since = now;
        }
        return now - since > nanos;
    }
}
