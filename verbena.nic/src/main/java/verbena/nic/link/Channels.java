package verbena.nic.link;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// What links over the channels of the JDK have in common.
final class Channels {
    private Channels() {}

    /// @throws LinkException when the system refuses
    static Selector openSelector() {
        try {
            return Selector.open();
        } catch (IOException e) {
            throw new LinkException(LinkException.Kind.FAILED, "selector: " + e.getMessage(), e);
        }
    }

    /// Sleeps until a channel is ready, the selector is woken, or the time has passed (negative: no limit; 0: not at
    /// all). May return early.
    ///
    /// @param onReady is given the keys of channels that are ready
    static void sleep(Selector selector, long timeoutNanos, Consumer<SelectionKey> onReady) {
        try {
            if (timeoutNanos > 0) {
                // Up: a sleep of less than a millisecond would be none, and the caller would spin.
                long millis = TimeUnit.NANOSECONDS.toMillis(timeoutNanos - 1) + 1;
                selector.select(onReady, millis);
            } else if (timeoutNanos < 0) {
                selector.select(onReady);
            }
        } catch (IOException | ClosedSelectorException _) {
            // Closed, or early: the caller looks for itself.
        }
    }

    /// A descriptor that cannot be closed is gone all the same.
    static void close(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception _) {
            // As said.
        }
    }
}
