package verbena.nio.programs;

import java.util.concurrent.CountDownLatch;

/// An agent that ends the process before the next agent begins, and the program of that process: the end waits for
/// it.
public final class EarlyEnd {
    private static final CountDownLatch IS_MAIN = new CountDownLatch(1);

    private EarlyEnd() {}

    /// Called by the JVM. Returns when shutdown hooks run.
    public static void premain(String arguments) throws InterruptedException {
        var ends = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ends.countDown();
            awaitMain();
        }));
        new Thread(() -> System.exit(0)).start();
        ends.await();
    }

    private static void awaitMain() {
        try {
            IS_MAIN.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) {
        IS_MAIN.countDown();
    }
}
