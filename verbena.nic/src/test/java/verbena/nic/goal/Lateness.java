package verbena.nic.goal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Measures how late this machine runs threads. A thread waits for a time again and again for the whole test, and
/// the kernel counts how long a thread that could run had no processor. A test may exceed a promised time by what
/// the machine took from its threads meanwhile.
final class Lateness implements AutoCloseable {
    private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final CountDownLatch over = new CountDownLatch(1);
    private volatile long worstNanos;
    private volatile long began = System.nanoTime();

    Lateness() {
        Thread.ofPlatform().daemon().start(this::measure);
    }

    private void measure() {
        try {
            while (!over.await(WAIT_NANOS, TimeUnit.NANOSECONDS)) {
                long now = System.nanoTime();
                worstNanos = Math.max(worstNanos, now - began - WAIT_NANOS);
                began = now;
            }
        } catch (InterruptedException _) {
            // The test is over.
        }
    }

    /// The worst delay of a thread that sleeps most of the time, since the last call.
    long takeWorstNanos() {
        long worst = Math.max(worstNanos, System.nanoTime() - began - WAIT_NANOS);
        worstNanos = 0;
        return worst;
    }

    /// How long this thread has had no processor when it could run, in all its life. One that has worked hard gets
    /// its next turn later than one that sleeps. 0 where the kernel does not tell (/proc/PID/schedstat).
    static long nanosWithoutProcessor() {
        try {
            try (var figures = new Scanner(Path.of("/proc/thread-self/schedstat"), StandardCharsets.US_ASCII)) {
                figures.nextLong(); // with a processor
                return figures.nextLong();
            }
        } catch (IOException _) {
            return 0;
        }
    }

    @Override
    public void close() {
        over.countDown();
    }
}
