package verbena.messages;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Threads that take the processors until they are closed. An interrupt ends the wait for them, and they end all the
/// same.
public final class BusyThreads implements AutoCloseable {
    private volatile boolean isOver;
    private final List<Thread> threads;

    public BusyThreads(int count) {
        threads = Stream.generate(() -> Thread.ofPlatform().daemon().start(this::spin))
                .limit(count)
                .toList();
    }

    /// Returns three of them in one draw of four, otherwise null.
    public static @Nullable BusyThreads ifDrawn() {
        return Integer.getInteger("verbena.draw", 0) % 4 == 3 ? new BusyThreads(3) : null;
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
