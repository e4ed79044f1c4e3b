package verbena.stream;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Context;
import verbena.verbs.Preview;
import verbena.verbs.spi.Waiter;

/// The devices of this process's streams, for threads that wait for several streams, or for more than streams.
@Preview
public final class StreamDevices {
    private StreamDevices() {}

    /// Returns a thread that waits at the device of streams, where the listeners of [StreamChannel#onReadiness]
    /// run; null when the device does not allow it.
    ///
    /// @param at the device of an open stream ([StreamChannel#context()])
    /// @param isOver as [verbena.verbs.spi.WaitableChannel#waiter] has it
    public static @Nullable Waiter waiter(Context at, BooleanSupplier isOver) {
        return DeviceWatch.waiter(at, isOver);
    }

    /// Makes the devices' own threads work from now on. The calling thread has asked channels for
    /// [StreamChannel#readyOps], and is about to wait where no device sees it.
    public static void handOver() {
        DeviceWatch.handOver();
    }
}
