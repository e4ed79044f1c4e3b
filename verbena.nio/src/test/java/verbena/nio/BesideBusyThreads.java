package verbena.nio;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// Threads that take the processors while the tests of a class run, in one draw of four (`-Dverbena.draw=3`).
final class BesideBusyThreads implements BeforeAllCallback, AfterAllCallback {
    private static final int THREADS = 3;

    private volatile boolean isOver;
    private List<Thread> busy = List.of();

    @Override
    public void beforeAll(ExtensionContext context) {
        if (Integer.getInteger("verbena.draw", 0) % 4 == 3) {
            isOver = false;
            busy = Stream.generate(() -> Thread.ofPlatform().daemon().start(this::spin))
                    .limit(THREADS)
                    .toList();
        }
    }

    private void spin() {
        while (!isOver) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        isOver = true;
        for (Thread each : busy) {
            each.join();
        }
    }
}
