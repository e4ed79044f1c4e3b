package verbena.messages.rail;

/// Threads of a worker.
public final class Threads {
    private Threads() {}

    /// Waits for the end of a thread, also when the caller is interrupted.
    public static void join(Thread other) {
        boolean isInterrupted = false;
        while (other.isAlive()) {
            try {
                other.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
