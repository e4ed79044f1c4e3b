package verbena.check.rules;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedPair;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.check.Watcher;

/// Watches what registering costs.
final class MemoryCosts extends Watcher {
    /// Registrations of one place, with requests between them, from which on it is told.
    private static final int HOT = 64;
    /// Small regions of one device from which on it is told.
    private static final int MANY = 256;
    private static final long SMALL = 4_096;
    /// Places that are counted.
    private static final int PLACES = 1_000;

    private static final class Registering {
        private final AtomicLong posts = new AtomicLong();
        private final AtomicInteger count = new AtomicInteger();
    }

    private final Findings findings;
    private final AtomicLong posts = new AtomicLong();
    private final Map<CallPlace, Registering> places = new ConcurrentHashMap<>();
    private final Map<TrackedDevice, AtomicInteger> small = new ConcurrentHashMap<>();

    MemoryCosts(Checker checker) {
        super(Set.of(Event.SUBMIT, Event.REGISTER, Event.UNREGISTERED));
        this.findings = checker.findings();
    }

    @Override
    public void onSubmit(TrackedPair pair, List<TrackedRequest> requests) {
        posts.incrementAndGet();
    }

    private static boolean isSmall(TrackedRegion region) {
        return region.isRegistered() && region.region().length() <= SMALL;
    }

    @Override
    public void onRegister(TrackedRegion region) {
        if (!region.isRegistered()) {
            return; // what a device allocates it may cut from what it has
        }
        if (isSmall(region)
                && small.computeIfAbsent(region.device(), _ -> new AtomicInteger())
                                .incrementAndGet()
                        == MANY) {
            findings.tell(
                    Rule.SMALL_REGIONS,
                    MANY + " regions of up to " + SMALL + " bytes are open at once.",
                    region.made(),
                    "the device was opened",
                    region.device().opened());
        }
        Registering known = places.get(region.made());
        if (known == null && places.size() < PLACES) {
            known = places.computeIfAbsent(region.made(), _ -> new Registering());
        }
        long now = posts.get();
        if (known != null && known.posts.getAndSet(now) != now && known.count.incrementAndGet() == HOT) {
            findings.tell(
                    Rule.REGISTER_HOT,
                    "memory was registered here " + HOT + " times, each time after other requests.",
                    region.made(),
                    "the device was opened",
                    region.device().opened());
        }
    }

    @Override
    public void onUnregistered(TrackedRegion region) {
        AtomicInteger count = small.get(region.device());
        if (count != null && isSmall(region)) {
            count.decrementAndGet();
        }
    }
}
