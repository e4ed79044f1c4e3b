package verbena.verbs;

import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import verbena.verbs.counting.ProcessCounters;

/// The counters of this process: devices, connections, streams, messages, and the integrations. Micrometer and
/// OpenTelemetry have the same names behind `verbena.`, with the device as a tag; `docs/observe.md` has the
/// table. Any thread may read them at any time.
///
/// A device, a queue pair and a worker also have `counters()` of their own, in the same form.
///
/// @since 0.1
public final class Counters {
    private Counters() {}

    /// Returns all counters and gauges that this process has by now, by name: `connections.open`,
    /// `nio.rdma.in.bytes`, `device.rocev2.sent.packets`. A counter includes what is closed, so it never falls.
    /// A gauge is a present number, such as all names that end in `open` or `now`. A name is missing until the
    /// process uses what it counts. Each call returns a new map, which the program may change.
    public static SortedMap<String, Long> ofProcess() {
        var all = new TreeMap<String, Long>();
        for (ProcessCounters each : ProcessCounters.all()) {
            String prefix =
                    each.kind().toLowerCase(Locale.ROOT) + (each.name().isEmpty() ? "." : "." + each.name() + ".");
            each.counters().forEach((name, value) -> all.put(prefix + name, value));
            each.gauges().forEach((name, value) -> all.put(prefix + name, value));
        }
        return all;
    }
}
