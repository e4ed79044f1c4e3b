package verbena.ibverbs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.spi.ConnectionService;

/// Who wants to know when a device has failed.
final class FailureWatch {
    private final List<Consumer<String>> listeners = new ArrayList<>();
    private @Nullable String failure;

    ConnectionService.Watch add(Consumer<String> onFailure) {
        String why;
        synchronized (this) {
            why = failure;
            if (why == null) {
                listeners.add(onFailure);
            }
        }
        if (why != null) {
            onFailure.accept(why);
        }
        return () -> remove(onFailure);
    }

    private synchronized void remove(Consumer<String> listener) {
        listeners.remove(listener);
    }

    void tell(String why) {
        List<Consumer<String>> told;
        synchronized (this) {
            if (failure != null) {
                return;
            }
            failure = why;
            told = List.copyOf(listeners);
        }
        told.forEach(each -> each.accept(why));
    }
}
