package verbena.nic.device;

import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.provider.QueuePairTable;
import verbena.verbs.QueuePair;

/// The open queue pairs of a device, for all who look at them. Any thread.
final class OpenQueuePairs {
    private final Map<Integer, DeviceQueuePair> all = new ConcurrentHashMap<>();
    /// The same, as programs find them without garbage.
    private final QueuePairTable table = new QueuePairTable();

    void add(DeviceQueuePair queuePair) {
        all.put(queuePair.qpn(), queuePair);
        table.add(queuePair);
    }

    void remove(DeviceQueuePair queuePair) {
        all.remove(queuePair.qpn());
        table.remove(queuePair);
    }

    /// Returns the queue pair of a number; null when none has it.
    @Nullable
    QueuePair get(int qpn) {
        return table.get(qpn);
    }

    /// Returns a view of all, by number.
    Map<Integer, DeviceQueuePair> all() {
        return Collections.unmodifiableMap(all);
    }
}
