package verbena.cm;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import verbena.verbs.Gid;

/// Services that are closed here, and that peers may still ask for: a peer whose request is not decided repeats it,
/// and the repetition has to reach this manager.
final class ClosedServices {
    private record Closed(long serviceId, Gid local, Runnable then) {}

    private final BiPredicate<Long, Gid> isAsked;
    private final List<Closed> asked = new ArrayList<>();

    /// @param isAsked whether a peer has asked for a service at an own address, and has no answer yet
    ClosedServices(BiPredicate<Long, Gid> isAsked) {
        this.isAsked = isAsked;
    }

    /// Runs `then` when no peer repeats a request any more, which may be now.
    void add(long serviceId, Gid local, Runnable then) {
        asked.add(new Closed(serviceId, local, then));
        onDecided();
    }

    /// Handles a request that was decided or forgotten.
    void onDecided() {
        if (asked.isEmpty()) {
            return;
        }
        List<Closed> quiet = asked.stream().filter(this::isQuiet).toList();
        asked.removeAll(quiet);
        quiet.forEach(closed -> closed.then.run());
    }

    private boolean isQuiet(Closed closed) {
        return !isAsked.test(closed.serviceId, closed.local);
    }
}
