package verbena.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Preview;
import verbena.verbs.counting.ProcessCounters;

/// The counters of this process as meters of Micrometer: devices and their queue pairs, connections, workers,
/// streams, the channels of `verbena.nio` and `verbena.netty`, and Spark's shuffle.
///
///     new VerbenaMetrics().bindTo(registry);
///
/// Meters come when what they count is first used, also after the binding. They keep the counts of devices, workers
/// and connections that are closed. The names are those of [verbena.verbs.Context#counters()] and its like, as in
/// `verbena.device.sent.packets` with the tag `device`. There is no tag for a queue pair or a peer, so the number of
/// meters has a limit. A meter reads the counters, and asks nothing of an engine.
///
/// @since 0.1
@Preview
public final class VerbenaMetrics implements MeterBinder, AutoCloseable {
    private static final String DROPPED = "dropped.";
    private static final Set<String> UNITS =
            Set.of("bytes", "calls", "completions", "connections", "messages", "packets", "requests");

    private final Tags tags;
    private final List<Runnable> endings = new CopyOnWriteArrayList<>();

    /// Creates a binder whose meters have no tags of the program's.
    public VerbenaMetrics() {
        this(Tags.empty());
    }

    /// Creates a binder.
    ///
    /// @param tags of every meter
    public VerbenaMetrics(Tags tags) {
        this.tags = tags;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Set<String> made = ConcurrentHashMap.newKeySet();
        endings.add(ProcessCounters.listen(sums -> bind(sums, registry, made)));
    }

    /// Ends the making of new meters. Those that are there stay.
    @Override
    public void close() {
        endings.forEach(Runnable::run);
        endings.clear();
    }

    /// Makes the meters that are not there yet.
    ///
    /// @param made those that are, by kind and name
    private void bind(ProcessCounters sums, MeterRegistry registry, Set<String> made) {
        String prefix = "verbena." + sums.kind().toLowerCase(Locale.ROOT) + ".";
        Tags all = sums.name().isEmpty() ? tags : tags.and("device", sums.name());
        String own = sums.kind() + " " + sums.name() + " ";
        for (String label : sums.counters().keySet()) {
            if (!made.add(own + label)) {
                continue;
            }
            boolean isDropped = label.startsWith(DROPPED); // one meter for each reason, so that they can be summed
            FunctionCounter.builder(
                            prefix + (isDropped ? "dropped.packets" : label),
                            sums,
                            it -> it.counters().getOrDefault(label, 0L))
                    .tags(isDropped ? all.and("reason", label.substring(DROPPED.length())) : all)
                    .baseUnit(isDropped ? "packets" : unit(label))
                    .register(registry);
        }
        for (String label : sums.gauges().keySet()) {
            if (!made.add(own + label)) {
                continue;
            }
            Gauge.builder(prefix + label, sums, it -> it.gauges().getOrDefault(label, 0L))
                    .tags(all)
                    .baseUnit(unit(label))
                    .register(registry);
        }
    }

    private static @Nullable String unit(String label) {
        String last = label.substring(Math.max(label.lastIndexOf('.'), label.lastIndexOf('_')) + 1);
        return UNITS.contains(last) ? last : null;
    }
}
