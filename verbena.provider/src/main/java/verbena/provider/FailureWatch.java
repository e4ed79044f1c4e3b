package verbena.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.spi.ConnectionService;

/// The listeners that are called when a device fails, each of them once. Any thread.
public final class FailureWatch {
    // Under this.
    private final List<Consumer<String>> listeners = new ArrayList<>();
    private @Nullable String failure;

    /// Creates the watch of a device that has not failed.
    public FailureWatch() {}

    /// Adds a listener, which is called when the device fails, or at once when it has failed.
    public ConnectionService.Watch add(Consumer<String> onFailure) {
        // An object of its own for each call, as two callers may bring equal ones.
        Consumer<String> listener = why -> onFailure.accept(why);
        String why;
        synchronized (this) {
            why = failure;
            if (why == null) {
                listeners.add(listener);
            }
        }
        if (why != null) {
            listener.accept(why);
        }
        return () -> remove(listener);
    }

    private synchronized void remove(Consumer<String> listener) {
        listeners.remove(listener);
    }

    /// Reports a failure of the device to the listeners. Ignores every failure after the first.
    public void tell(String why) {
        List<Consumer<String>> told;
        synchronized (this) {
            if (failure != null) {
                return;
            }
            failure = why;
            told = List.copyOf(listeners);
            listeners.clear();
        }
        told.forEach(each -> each.accept(why));
    }
}
