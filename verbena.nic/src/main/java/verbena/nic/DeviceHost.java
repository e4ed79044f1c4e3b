package verbena.nic;

import java.util.function.IntFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;
import verbena.verbs.Mtu;
import verbena.verbs.spi.OwnedObject;

/// What a [DeviceKind] finds in an open device.
///
/// @param context closed after all that is made from it
/// @param name as [verbena.verbs.Device#name()]
/// @param mtu largest path MTU
/// @param random unpredictable to peers
/// @param queuePairs gives a queue pair by its number; null when there is none
record DeviceHost(
        OwnedObject context,
        String name,
        long nodeGuid,
        Mtu mtu,
        Engines engines,
        GidTable gids,
        RandomGenerator random,
        DeviceEvents events,
        FailureWatch failures,
        IntFunction<@Nullable LocalQueuePair> queuePairs) {
    /// The engine that has what serves the whole device.
    Engine engine() {
        return engines.first();
    }
}
