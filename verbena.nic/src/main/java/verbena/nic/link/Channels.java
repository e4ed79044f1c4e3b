package verbena.nic.link;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// The methods shared by the links over the channels of the JDK.
public final class Channels {
    private Channels() {}

    /// Opens a selector.
    ///
    /// @throws LinkException when the system refuses
    public static Selector openSelector() {
        try {
            return Selector.open();
        } catch (IOException e) {
            throw new LinkException(LinkException.Kind.FAILED, "selector: " + e.getMessage(), e);
        }
    }

    /// Sleeps until a channel is ready, the selector is woken, or the time is over (negative: no limit; 0: does not
    /// sleep). May return early.
    ///
    /// @param onReady receives the keys of channels that are ready
    public static void sleep(Selector selector, long timeoutNanos, Consumer<SelectionKey> onReady) {
        try {
            if (timeoutNanos > 0) {
                // Rounded up: a sleep of less than a millisecond would be none, and the caller would spin.
                long millis = TimeUnit.NANOSECONDS.toMillis(timeoutNanos - 1) + 1;
                selector.select(onReady, millis);
            } else if (timeoutNanos < 0) {
                selector.select(onReady);
            }
        } catch (IOException | ClosedSelectorException _) {
            // The selector is closed, or the sleep ended early: the caller checks for itself.
        }
    }

    /// Closes a resource. A failure does not matter, because the descriptor is gone in any case.
    public static void close(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception _) {
            // The descriptor is gone.
        }
    }

    /// Returns the reason why a channel could not be bound.
    public static LinkException bindFailed(InetAddress address, int port, IOException e) {
        String words = String.valueOf(e.getMessage());
        return LinkException.ofBind(kindOf(words), address.getHostAddress(), port, words, e);
    }

    /// Returns the kind of a failure, from the system's words: the JDK distinguishes causes by nothing else.
    public static LinkException.Kind kindOf(String words) {
        if (words.contains("in use")) {
            return LinkException.Kind.PORT_IN_USE;
        }
        if (words.contains("ermission") || words.contains("not permitted")) {
            return LinkException.Kind.NOT_PERMITTED;
        }
        if (words.contains("assign requested address") || words.contains("nvalid argument")) {
            return LinkException.Kind.ADDRESS_NOT_LOCAL;
        }
        return LinkException.Kind.FAILED;
    }
}
