package verbena.nic.device;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import verbena.verbs.spi.ConnectionService;

/// Who wants to know when a device fails. Any thread.
final class FailureWatch {
    private final DeviceContext context;
    private final Set<Consumer<String>> watchers = ConcurrentHashMap.newKeySet();

    FailureWatch(DeviceContext context) {
        this.context = context;
    }

    /// Has `onFailure` told, once, when the device fails, or at once when it has.
    ConnectionService.Watch add(Consumer<String> onFailure) {
        // An own object for each call, as two callers may bring equal ones.
        Consumer<String> watcher = why -> onFailure.accept(why);
        watchers.add(watcher);
        Throwable failure = context.engines().failure();
        if (failure != null && watchers.remove(watcher)) {
            watcher.accept(why(failure));
        }
        return () -> watchers.remove(watcher);
    }

    /// The device has failed; the engine says so already.
    void onFailure(Throwable cause) {
        List.copyOf(watchers).forEach(watcher -> {
            if (watchers.remove(watcher)) {
                watcher.accept(why(cause));
            }
        });
    }

    private String why(Throwable cause) {
        return "device " + context.device().name() + " has failed: " + cause;
    }
}
