package verbena.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.check.Watcher.Event;
import verbena.verbs.AddressVector;
import verbena.verbs.QueuePairAttributes;

/// The rules that are on, what they hear and what they have found, for the devices of a process. Any thread.
public final class Checker {
    private final Findings findings;
    /// The watchers that hear of each event, at the event's place: most hear of few.
    private final Watcher[][] watchers = new Watcher[Event.values().length][];

    private final List<TrackedDevice> devices = new CopyOnWriteArrayList<>();
    /// The queue pairs that are open, by number: those of several devices may have the same.
    private final Map<Integer, List<TrackedPair>> pairs = new ConcurrentHashMap<>();
    /// The regions that are open, by the keys that peers use.
    private final Map<MemoryKey, TrackedRegion> regions = new ConcurrentHashMap<>();

    /// A key of a device, by which memory is named.
    public record MemoryKey(TrackedDevice device, int value) {}

    /// @param on the rules that are on
    /// @param rules makes what hears for them
    public Checker(Set<Rule> on, BiFunction<Set<Rule>, Checker, List<Watcher>> rules) {
        findings = new Findings(on);
        List<Watcher> all = rules.apply(on, this);
        for (Event event : Event.values()) {
            watchers[event.ordinal()] =
                    all.stream().filter(each -> each.events().contains(event)).toArray(Watcher[]::new);
        }
    }

    public Findings findings() {
        return findings;
    }

    /// Calls all that hear of an event.
    ///
    /// @param call calls the method of that event
    public void hear(Event event, Consumer<Watcher> call) {
        for (Watcher each : hearing(event)) {
            call.accept(each);
        }
    }

    private Watcher[] hearing(Event event) {
        return watchers[event.ordinal()];
    }

    /// Hears of requests before they are posted.
    public void onPost(List<TrackedRequest> requests) {
        for (TrackedRequest request : requests) {
            for (Watcher each : hearing(Event.POST)) {
                each.onPost(request);
            }
        }
    }

    /// Hears of all send requests of one call, before they are posted.
    public void onSubmit(TrackedPair pair, List<TrackedRequest> requests) {
        for (Watcher each : hearing(Event.SUBMIT)) {
            each.onSubmit(pair, requests);
        }
    }

    /// Hears that the device has taken the send requests of one call.
    public void onSubmitted(TrackedPair pair) {
        for (Watcher each : hearing(Event.SUBMITTED)) {
            each.onSubmitted(pair);
        }
    }

    /// Hears that the program has seen a request end.
    public void onEnd(TrackedRequest request, boolean isOk) {
        for (Watcher each : hearing(Event.END)) {
            each.onEnd(request, isOk);
        }
    }

    /// Hears of requests that end without a completion.
    public void onDrop(List<TrackedRequest> requests) {
        for (Watcher each : hearing(Event.DROP)) {
            requests.forEach(each::onDrop);
        }
    }

    /// Hears that the program has taken the receive of a message.
    public void onMessage(TrackedPair pair) {
        for (Watcher each : hearing(Event.MESSAGE)) {
            each.onMessage(pair);
        }
    }

    /// Hears of a look at a completion queue.
    public void onPoll(TrackedQueue queue, boolean found) {
        queue.polled(found);
        for (Watcher each : hearing(Event.POLL)) {
            each.onPoll(queue, found);
        }
    }

    public void opened(TrackedDevice device) {
        devices.add(device);
    }

    public void closed(TrackedDevice device) {
        devices.remove(device);
    }

    /// Returns the devices that are open.
    public List<TrackedDevice> devices() {
        return List.copyOf(devices);
    }

    public void opened(TrackedPair pair) {
        pairs.compute(pair.qpn(), (_, known) -> {
            List<TrackedPair> all = known == null ? new ArrayList<>(1) : new ArrayList<>(known);
            all.add(pair);
            return all;
        });
    }

    public void closed(TrackedPair pair) {
        pairs.computeIfPresent(pair.qpn(), (_, known) -> {
            List<TrackedPair> left = new ArrayList<>(known);
            left.remove(pair);
            return left.isEmpty() ? null : left;
        });
        TrackedPair peer = pair.peer();
        if (peer != null) {
            peer.peer(null);
        }
    }

    public void opened(TrackedRegion region) {
        regions.put(new MemoryKey(region.device(), region.rkey()), region);
    }

    public void closed(TrackedRegion region) {
        regions.remove(new MemoryKey(region.device(), region.rkey()), region);
    }

    /// Returns the open region that peers reach by a key; null when it is no region's, as that of a window.
    public @Nullable TrackedRegion region(TrackedDevice device, int rkey) {
        return rkey == 0 ? null : regions.get(new MemoryKey(device, rkey));
    }

    /// Returns the open regions that a request for the peer's memory may be for: the one of its key; all of the peer,
    /// when the key is no region's, as that of a window; none when the peer is not known.
    public List<TrackedRegion> targets(TrackedRequest request) {
        TrackedPair pair = TrackedPair.of(request);
        TrackedPair peer = pair == null ? null : peer(pair).orElse(null);
        if (peer == null) {
            return List.of();
        }
        TrackedRegion known = region(peer.device(), request.rkey());
        return known == null
                ? regions.values().stream()
                        .filter(each -> each.device() == peer.device())
                        .toList()
                : List.of(known);
    }

    /// Returns the queue pair of this process that `pair` is connected with; empty when it is elsewhere, or not
    /// connected yet.
    public Optional<TrackedPair> peer(TrackedPair pair) {
        TrackedPair known = pair.peer();
        if (known != null) {
            return Optional.of(known);
        }
        QueuePairAttributes own = pair.attributes();
        if (own == null || own.peer().path().isEmpty()) {
            return Optional.empty();
        }
        for (TrackedPair each : pairs.getOrDefault(own.peer().destinationQpn(), List.of())) {
            QueuePairAttributes its = each.attributes();
            if (its != null
                    && its.peer().destinationQpn() == pair.qpn()
                    && its.peer().path().isPresent()
                    && isAt(each, own.peer().path().get())
                    && isAt(pair, its.peer().path().get())) {
                pair.peer(each);
                each.peer(pair);
                if (isOpen(each) && isOpen(pair)) {
                    return Optional.of(each);
                }
                pair.peer(null); // one was closed meanwhile, and knew of no peer to tell
                each.peer(null);
            }
        }
        return Optional.empty();
    }

    /// Returns whether a queue pair of this process is open. A thread that misses a region whose owner closed it after
    /// this queue pair gets false.
    public boolean isOpen(TrackedPair pair) {
        return pairs.getOrDefault(pair.qpn(), List.of()).contains(pair);
    }

    /// Returns the queue pairs of this process that a path and a number lead to.
    public List<TrackedPair> at(AddressVector path, int qpn) {
        return pairs.getOrDefault(qpn, List.of()).stream()
                .filter(each -> isAt(each, path))
                .toList();
    }

    private static boolean isAt(TrackedPair pair, AddressVector path) {
        return pair.device().context().gids(1).stream()
                .anyMatch(entry -> entry.gid().equals(path.destination()));
    }
}
