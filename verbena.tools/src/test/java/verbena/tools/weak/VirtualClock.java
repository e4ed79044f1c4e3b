package verbena.tools.weak;

import java.util.function.LongSupplier;

/// The clock of virtual threads. The bootstrap class loader has this class, so that classes of the JDK may ask it.
public final class VirtualClock {
    private static volatile LongSupplier clock = System::nanoTime;

    private VirtualClock() {}

    /// Sets the time that virtual threads get.
    public static void use(LongSupplier nanos) {
        clock = nanos;
    }

    /// Returns the time, as [System#nanoTime()] does, which it replaces. Threads of the system get the machine's.
    public static long nanoTime() {
        return Thread.currentThread().isVirtual() ? clock.getAsLong() : System.nanoTime();
    }
}
