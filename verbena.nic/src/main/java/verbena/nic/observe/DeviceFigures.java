package verbena.nic.observe;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import verbena.verbs.QpState;
import verbena.verbs.counting.Counted;

/// The counters of a device, and the sums of its queue pairs.
final class DeviceFigures implements Counted {
    private final ObservedDevice device;

    DeviceFigures(ObservedDevice device) {
        this.device = device;
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> all = device.counters();
        all.keySet().removeIf(DeviceFigures::isGauge);
        return all;
    }

    @Override
    public Map<String, Long> gauges() {
        var all = new TreeMap<>(device.counters());
        all.keySet().removeIf(name -> !isGauge(name));
        Collection<? extends ObservedQueuePair> pairs = device.queuePairs();
        all.put("open", 1L);
        all.put("queue.pairs", (long) pairs.size());
        all.put(
                "queue.pairs.failed",
                pairs.stream().filter(DeviceFigures::hasFailed).count());
        all.put(
                "outstanding.sends",
                pairs.stream().mapToLong(ObservedQueuePair::sendsOutstanding).sum());
        all.put(
                "waiting.completions",
                pairs.stream().mapToLong(ObservedQueuePair::completionsWaiting).sum());
        all.put("failed", device.failure() == null ? 0L : 1L);
        return all;
    }

    /// Returns whether a name of the device's counters is that of a gauge: a present number, not a count.
    private static boolean isGauge(String name) {
        return name.endsWith(".now") || name.equals("tcp.open");
    }

    /// Returns whether the queue pair went to ERR for a reason of its own, and not at the end of a connection.
    private static boolean hasFailed(ObservedQueuePair pair) {
        return pair.state() == QpState.ERR && !pair.rootCause().isEmpty();
    }
}
