package verbena.tools.kit;

import java.util.List;

/// Giving back what was opened.
public final class Closing {
    private Closing() {}

    /// Closes all, the last first, and empties the list.
    public static void all(List<AutoCloseable> opened) {
        for (AutoCloseable object : opened.reversed()) {
            try {
                object.close();
            } catch (Exception e) {
                throw new IllegalStateException("could not be closed: " + object, e);
            }
        }
        opened.clear();
    }

    /// Waits until a thread has ended, even when this one is interrupted, which it then still is.
    public static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
