package verbena.tools.weak;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import verbena.check.Checker;
import verbena.check.Finding;
import verbena.check.Grade;
import verbena.check.Rule;
import verbena.check.TrackedQueue;
import verbena.check.TrackedRequest;
import verbena.check.Watcher;
import verbena.check.Watcher.Event;
import verbena.check.rules.Watchers;
import verbena.transport.weak.Weakness;
import verbena.verbs.Device;

/// One seed: the freedoms that devices take, and the rules and races that watch what programs do on them.
final class WeakScene {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration LOOK = Duration.ofMillis(20);

    private static final Pattern CAN_BE_WEAK = Pattern.compile("(rocev2|shm)([@_,].*)?");

    private final String weak;
    private final long seed;
    private final @Nullable VirtualTime time;
    private final AtomicLong posted = new AtomicLong();
    private final Checker checker;
    private final Set<String> told = new HashSet<>();

    /// @param weak the value of the option of that name
    /// @param isVirtual whether devices are in virtual time
    WeakScene(String weak, long seed, boolean isVirtual) {
        this.weak = weak;
        this.seed = seed;
        this.time = isVirtual ? new VirtualTime(Weakness.parse(weak, seed)) : null;
        if (time != null) {
            OneByOne.SCHEDULER.use(time);
        }
        this.checker = new Checker(EnumSet.allOf(Rule.class), this::watchers);
    }

    private List<Watcher> watchers(Set<Rule> on, Checker by) {
        List<Watcher> all = new ArrayList<>(Watchers.of(on, by));
        all.add(new Watcher(Set.of(Event.POST, Event.POLL)) {
            @Override
            public void onPost(TrackedRequest request) {
                posted.incrementAndGet();
            }

            @Override
            public void onPoll(TrackedQueue queue, boolean found) {
                if (time != null && !found) {
                    time.passPolled();
                }
            }
        });
        return all;
    }

    Checker checker() {
        return checker;
    }

    /// Returns the device that a program gets for one that it names.
    Device device(Device named) {
        String name = named.name();
        if (!CAN_BE_WEAK.matcher(name).matches() || name.contains(",weak=")) {
            return named;
        }
        return time == null ? WeakLayer.named(name + "," + options()) : time.device(name, named);
    }

    long seed() {
        return seed;
    }

    /// Returns the options that make a device weak.
    String options() {
        return "weak=" + weak + ",seed=" + seed;
    }

    /// Returns how many requests were posted so far.
    long posted() {
        return posted.get();
    }

    /// Returns the errors and the luck that were found since the last call, as text.
    ///
    /// @param meant the rules that are left out
    List<String> findings(Set<Rule> meant) {
        return checker.findings().all().stream()
                .filter(each -> each.rule().grade() != Grade.COST)
                .filter(each -> told.add(each.rule() + " " + each.noticed() + " " + each.earlier()))
                .filter(each -> !meant.contains(each.rule()))
                .map(Finding::text)
                .toList();
    }

    /// Waits until all devices are closed. Connections that name no device share one, which lingers for a second.
    void awaitClosed() {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!checker.devices().isEmpty()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError(
                        "still open: " + checker.devices().getFirst().context().device());
            }
            LockSupport.parkNanos(LOOK.toNanos());
        }
    }
}
