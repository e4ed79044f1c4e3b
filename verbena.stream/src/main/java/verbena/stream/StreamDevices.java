package verbena.stream;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Context;
import verbena.verbs.Preview;
import verbena.verbs.spi.DeviceWait;

/// The devices of this process's streams, for a thread that waits for several streams, or for other events too. Any
/// thread may call it. It lives as long as the process.
///
/// @since 0.1
@Preview
public final class StreamDevices {
    private StreamDevices() {}

    /// Returns an object with which a thread waits at the device of streams. The listeners of
    /// [StreamChannel#onReadiness] run there. Null when the device does not allow it.
    ///
    /// @param at the device of an open stream ([StreamChannel#context()])
    /// @param isOver condition that ends the wait, as [verbena.verbs.spi.WaitableChannel#waiter] has it
    public static @Nullable DeviceWait waiter(Context at, BooleanSupplier isOver) {
        return DeviceWatch.waiter(at, isOver);
    }

    /// Makes the devices' own threads work from now on. A thread calls it after it has asked channels for
    /// [StreamChannel#readyOps], and before it waits elsewhere.
    public static void handOver() {
        DeviceWatch.handOver();
    }
}
