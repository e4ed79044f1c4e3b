package verbena.nic.kind;

import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;
import verbena.verbs.Mtu;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.OwnedObject;

/// What a [DeviceKind] finds in an open device.
///
/// @param context closed after all that is made from it
/// @param name as [verbena.verbs.Device#name()]
/// @param mtu largest path MTU
/// @param random unpredictable to peers
/// @param failures has a listener told when the device fails ([ConnectionService#watch])
/// @param queuePairs gives a queue pair by its number; null when there is none
public record DeviceHost(
        OwnedObject context,
        String name,
        long nodeGuid,
        Mtu mtu,
        Engines engines,
        GidTable gids,
        RandomGenerator random,
        PeerLog peers,
        Function<Consumer<String>, ConnectionService.Watch> failures,
        IntFunction<@Nullable LocalQueuePair> queuePairs) {
    /// The engine that has what serves the whole device.
    public Engine engine() {
        return engines.first();
    }
}
