package verbena.verbs.counting;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// The sums of all things of one kind and name in this process, as JMX and registries of metrics show them. Counters
/// include those of things that are closed, so they only grow, and there are no more names than a program chooses.
/// Safe for use by any thread.
public final class ProcessCounters {
    /// The counters of all kinds, by the names of their beans. Guarded by itself.
    private static final Map<String, ProcessCounters> ALL = new LinkedHashMap<>();

    private static final List<Consumer<ProcessCounters>> LISTENERS = new CopyOnWriteArrayList<>();

    private final String kind;
    private final String name;
    /// The open things. Guarded by itself, like the next two.
    private final List<Counted> open = new ArrayList<>();

    private final SortedMap<String, Long> closed = new TreeMap<>();
    /// Zero for each gauge of a thing that is closed.
    private final SortedMap<String, Long> zeros = new TreeMap<>();

    private ProcessCounters(String kind, String name) {
        this.kind = kind;
        this.name = name;
    }

    /// Returns the counters of a kind of which there is one in a process, or whose members have no names.
    public static ProcessCounters of(String kind) {
        return of(kind, "");
    }

    /// Returns the counters of the things of a kind that have one name.
    ///
    /// @param kind as `Device`
    /// @param name empty when the kind has no names
    public static ProcessCounters of(String kind, String name) {
        String bean = "verbena:type=Counters,of=" + kind + (name.isEmpty() ? "" : ",name=" + quoted(name));
        synchronized (ALL) {
            ProcessCounters known = ALL.get(bean);
            if (known == null) {
                ProcessCounters made = new ProcessCounters(kind, name);
                ALL.put(bean, made);
                LateBeans.show(bean, new Bean(made));
                known = made;
            }
            return known;
        }
    }

    /// Makes the bean of the counters. No lambda: the first lambdas of a process take it longer than a connection.
    private record Bean(ProcessCounters of) implements Supplier<CountersBean> {
        @Override
        public CountersBean get() {
            return new CountersBean(of.kind, of::counters, of::gauges);
        }
    }

    private static String quoted(String name) {
        return name.matches("[\\w.@%-]+") ? name : '"' + name.replaceAll("[\\\\*?\"]", "\\\\$0") + '"';
    }

    /// Calls a listener for each kind and name that has anything, and again whenever one gets something new.
    ///
    /// @return ends it
    public static Runnable listen(Consumer<ProcessCounters> listener) {
        LISTENERS.add(listener);
        all().forEach(listener);
        return () -> LISTENERS.remove(listener);
    }

    /// Returns those of each kind and name that this process has used.
    public static List<ProcessCounters> all() {
        synchronized (ALL) {
            return List.copyOf(ALL.values());
        }
    }

    /// Adds a thing that has opened.
    public void add(Counted opened) {
        synchronized (open) {
            open.add(opened);
        }
        for (Consumer<ProcessCounters> listener : LISTENERS) {
            listener.accept(this);
        }
    }

    /// Removes a thing that closes, and keeps its counters. The caller holds no lock that reading the counters
    /// takes. Does nothing when the thing is not there.
    public void remove(Counted closing) {
        synchronized (open) {
            if (open.remove(closing)) {
                closing.counters().forEach((counter, count) -> closed.merge(counter, count, Long::sum));
                closing.gauges().keySet().forEach(gauge -> zeros.put(gauge, 0L));
            }
        }
    }

    public String kind() {
        return kind;
    }

    /// Returns the name of the things; empty when they have none.
    public String name() {
        return name;
    }

    /// Returns the counters of all things, open and closed.
    public SortedMap<String, Long> counters() {
        synchronized (open) {
            var all = new TreeMap<>(closed);
            open.forEach(each -> each.counters().forEach((counter, count) -> all.merge(counter, count, Long::sum)));
            return all;
        }
    }

    /// Returns the present figures of the open things.
    public SortedMap<String, Long> gauges() {
        synchronized (open) {
            var all = new TreeMap<>(zeros);
            open.forEach(each -> each.gauges().forEach((gauge, value) -> all.merge(gauge, value, Long::sum)));
            return all;
        }
    }
}
