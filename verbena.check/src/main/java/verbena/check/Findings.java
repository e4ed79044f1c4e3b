package verbena.check;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// The findings of a process so far. Any thread.
public final class Findings {
    /// Findings that are kept; more are only counted.
    private static final int LIMIT = 1_000;

    private record Key(Rule rule, CallPlace noticed, CallPlace earlier) {}

    private record Kept(long order, String detail, String step, AtomicLong count) {}

    private final Map<Key, Kept> kept = new ConcurrentHashMap<>();
    private final AtomicLong order = new AtomicLong();
    private final AtomicLong beyond = new AtomicLong();

    private final Set<Rule> on;

    /// @param on the rules whose findings are kept
    public Findings(Set<Rule> on) {
        this.on = on.isEmpty() ? Set.of() : EnumSet.copyOf(on);
    }

    /// Tells a finding; nothing happens when its rule is off.
    ///
    /// @param step what was done at `earlier`, in a word or two
    public void tell(Rule rule, String detail, CallPlace noticed, String step, CallPlace earlier) {
        if (!on.contains(rule)) {
            return;
        }
        Key key = new Key(rule, noticed, earlier);
        Kept known = kept.get(key);
        if (known == null && kept.size() >= LIMIT) {
            beyond.incrementAndGet();
            return;
        }
        kept.computeIfAbsent(key, _ -> new Kept(order.incrementAndGet(), detail, step, new AtomicLong()))
                .count
                .incrementAndGet();
    }

    /// Takes a finding back: a later step has shown that it is none.
    public void retract(Rule rule, CallPlace noticed, CallPlace earlier) {
        kept.remove(new Key(rule, noticed, earlier));
    }

    /// Returns them in the order in which they were first told.
    public List<Finding> all() {
        List<Map.Entry<Key, Kept>> entries = new ArrayList<>(kept.entrySet());
        entries.sort(Comparator.comparingLong(entry -> entry.getValue().order));
        return entries.stream()
                .map(entry -> new Finding(
                        entry.getKey().rule,
                        entry.getValue().detail,
                        entry.getKey().noticed,
                        entry.getKey().earlier,
                        entry.getValue().step,
                        entry.getValue().count.get()))
                .toList();
    }

    /// Returns how many were not kept, because there were too many.
    public long beyond() {
        return beyond.get();
    }
}
