package verbena.verbs.internal;

import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import verbena.verbs.Device;

/// A layer between a program and every device that it uses, when the process was started so
/// ([Providers#LAYER]). Found by [java.util.ServiceLoader]. Any thread calls it.
public interface DeviceLayer {
    /// Returns the device with the layer in front, under the same name; one that has it already is returned as it
    /// is.
    Device over(Device device);

    /// Learns that the program is not Java, and how to find its places.
    ///
    /// @param here returns the addresses behind the program's call that this thread carries out and behind those
    ///     that led to it, innermost first; none on other threads
    /// @param frame returns the place in the source for such an address, and nothing for code that is inline in
    ///     the headers of verbs; it may take milliseconds
    void callFrom(Supplier<long[]> here, LongFunction<Optional<StackTraceElement>> frame);

    /// Prints its findings. Called when the process ends and the JVM's own shutdown does not run, as in a C
    /// program.
    void printFindings();
}
