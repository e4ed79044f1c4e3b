package verbena.nic.goal;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Measures how late this machine runs a thread that has waited for a time. A thread waits again and again for the
/// whole test. A test may exceed a promised time by the delay that the machine caused to all threads meanwhile.
final class Lateness implements AutoCloseable {
    private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final CountDownLatch over = new CountDownLatch(1);
    private volatile long worstNanos;

    Lateness() {
        Thread.ofPlatform().daemon().start(this::measure);
    }

    private void measure() {
        try {
            long began = System.nanoTime();
            while (!over.await(WAIT_NANOS, TimeUnit.NANOSECONDS)) {
                long now = System.nanoTime();
                worstNanos = Math.max(worstNanos, now - began - WAIT_NANOS);
                began = now;
            }
        } catch (InterruptedException _) {
            // The test is over.
        }
    }

    /// The worst delay since the last call.
    long takeWorstNanos() {
        long worst = worstNanos;
        worstNanos = 0;
        return worst;
    }

    @Override
    public void close() {
        over.countDown();
    }
}
