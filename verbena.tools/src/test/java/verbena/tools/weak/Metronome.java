package verbena.tools.weak;

import java.util.concurrent.locks.LockSupport;

/// A thread that wants to wake every few milliseconds, and notes when it could not: then other threads of this
/// process did not get a processor either.
final class Metronome {
    private static final long BEAT_NANOS = 10_000_000;
    /// The time without a processor from which on time limits of seconds say nothing: several such times may follow.
    private static final long LATE_NANOS = 250_000_000;

    private volatile boolean isLate;

    Metronome() {
        Thread.ofPlatform().daemon().name("metronome").start(this::run);
    }

    private void run() {
        for (long last = System.nanoTime(); ; last = System.nanoTime()) {
            LockSupport.parkNanos(BEAT_NANOS);
            if (System.nanoTime() - last > LATE_NANOS) {
                isLate = true;
            }
        }
    }

    /// Begins to watch.
    void begin() {
        isLate = false;
    }

    /// Returns whether the machine was so busy since the beginning that a time limit says nothing.
    boolean wasLate() {
        return isLate;
    }
}
