package verbena.nio;

import java.util.List;
import java.util.stream.Stream;

/// Threads that take the processors until they are closed. An interrupt ends the wait for them, and they end all the
/// same.
final class BusyThreads implements AutoCloseable {
    private static final int COUNT = 3;

    private volatile boolean isOver;
    private final List<Thread> threads;

    BusyThreads() {
        threads = Stream.generate(() -> Thread.ofPlatform().daemon().start(this::spin))
                .limit(COUNT)
                .toList();
    }

    private void spin() {
        while (!isOver) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        isOver = true;
        try {
            for (Thread each : threads) {
                each.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
