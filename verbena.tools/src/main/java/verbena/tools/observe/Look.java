package verbena.tools.observe;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.nic.management.PeerStatus;
import verbena.nic.management.QueuePairStatus;

/// The result of one look at the processes of a host.
///
/// @param timeMillis since 1970
public record Look(long timeMillis, List<ProcessLook> processes) {
    /// A process.
    ///
    /// @param program main class and arguments
    /// @param trouble why it cannot be looked into; null when it can
    public record ProcessLook(
            long pid, String program, @Nullable String trouble, List<DeviceLook> devices) {}

    /// A device of it.
    ///
    /// @param nanoTime the clock that rates are counted by
    public record DeviceLook(
            int id,
            String name,
            String transport,
            String state,
            long nanoTime,
            List<String> gids,
            Map<String, Long> counters,
            List<QueuePairStatus> queuePairs,
            List<PeerStatus> peers) {
        long count(String counter) {
            return counters.getOrDefault(counter, 0L);
        }

        /// Returns the number of packets that were dropped, for whatever reason.
        long dropped() {
            return counters.entrySet().stream()
                    .filter(entry -> entry.getKey().startsWith("dropped."))
                    .mapToLong(Map.Entry::getValue)
                    .sum();
        }
    }

    /// Returns the state of a device at this look; null when it was not there.
    @Nullable
    DeviceLook device(long pid, int id) {
        for (ProcessLook process : processes) {
            if (process.pid == pid) {
                for (DeviceLook device : process.devices) {
                    if (device.id == id) {
                        return device;
                    }
                }
            }
        }
        return null;
    }
}
