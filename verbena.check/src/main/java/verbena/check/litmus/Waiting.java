package verbena.check.litmus;

import java.util.concurrent.TimeUnit;

/// A wait of a program that runs: it spins, gives way now and then, and ends with an exception when it takes too
/// long.
final class Waiting {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final int SPINS = 64;

    private final String what;
    private final long begin = System.nanoTime();
    private int times;

    /// @param what is waited for
    Waiting(String what) {
        this.what = what;
    }

    /// Waits a little.
    ///
    /// @throws IllegalStateException when it has waited too long
    @SuppressWarnings("ThreadPriorityCheck") // correct without the hint
    void again() throws InterruptedException {
        if (++times % SPINS != 0) {
            Thread.onSpinWait();
            return;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (System.nanoTime() - begin > LIMIT_NANOS) {
            throw new IllegalStateException(
                    what + " takes longer than " + TimeUnit.NANOSECONDS.toSeconds(LIMIT_NANOS) + " s");
        }
        Thread.yield();
    }
}
