package verbena.nic.kind;

import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;
import verbena.verbs.Mtu;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.OwnedObject;

/// The parts of an open device that a [DeviceKind] needs.
///
/// @param context closed after all objects that are made from it
/// @param name as [verbena.verbs.Device#name()]
/// @param mtu the largest path MTU
/// @param random unpredictable for peers
/// @param failures registers a listener that is called when the device fails ([ConnectionService#watch])
/// @param queuePairs all queue pairs by their numbers; any thread may look
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
        Map<Integer, ? extends LocalQueuePair> queuePairs) {
    /// Returns the engine with the tasks that serve the whole device.
    public Engine engine() {
        return engines.first();
    }
}
