package verbena.conformance.chaos;

import java.time.Duration;

/// A clock of the time that this process was granted. While others have the processors it nearly stands still, so a
/// starved process does not look like one that hangs. One thread looks again and again. A look in time shows that
/// there was a processor to be had, and all the time counts. Of the time before a late look no more counts than the
/// processor time that the process has used.
final class GrantedTime {
    private final long lookNanos;
    private volatile long nanos;
    private long lookedNanos = System.nanoTime();
    private long usedNanos = usedNanos();

    /// @param look the time between two looks
    GrantedTime(Duration look) {
        this.lookNanos = look.toNanos();
    }

    /// Looks, and returns what [#nanos] returns from now on. By one thread.
    long look() {
        long now = System.nanoTime();
        long used = usedNanos();
        advance(now - lookedNanos, used - usedNanos);
        lookedNanos = now;
        usedNanos = used;
        return nanos;
    }

    /// Counts the time since the last look.
    ///
    /// @param processorNanos that the process has used meanwhile, by all threads
    void advance(long passedNanos, long processorNanos) {
        boolean isInTime = passedNanos < 2 * lookNanos;
        long before = nanos;
        nanos = before + (isInTime ? passedNanos : Math.min(passedNanos, processorNanos));
    }

    /// Returns the time that was granted until the last look.
    long nanos() {
        return nanos;
    }

    private static long usedNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElse(Duration.ZERO)
                .toNanos();
    }
}
