package verbena.nio;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import verbena.stream.StreamDevices;

/// How a thread waits for a stream to become ready, with a time limit. Safe for use by any thread.
final class TimedWait {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final AtomicInteger waiters = new AtomicInteger();

    /// Something may be ready. Does not wait: a thread of its own tells those that wait.
    void onReadiness() {
        if (waiters.get() > 0) {
            Thread.ofVirtual().name("verbena-nio-ready").start(this::signal);
        }
    }

    private void signal() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until `isReady`, which is asked after each call of [#onReadiness]; false when the time is over.
    boolean await(BooleanSupplier isReady, long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            waiters.getAndIncrement(); // before the question: a thread that makes it true does so first, then reads
            // this
            long left = nanos;
            while (!isReady.getAsBoolean()) {
                if (left <= 0) {
                    return false;
                }
                StreamDevices.handOver();
                left = changed.awaitNanos(left);
            }
            return true;
        } finally {
            waiters.getAndDecrement();
            lock.unlock();
        }
    }
}
