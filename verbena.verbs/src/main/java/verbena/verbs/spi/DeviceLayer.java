package verbena.verbs.spi;

import verbena.verbs.Device;
import verbena.verbs.Preview;

/// A layer between a program and every device that it uses, when the process was started so
/// ([Providers#LAYER]). Found by [java.util.ServiceLoader]. Any thread calls it.
///
/// @since 0.1
@Preview
public interface DeviceLayer {
    /// Returns the device with the layer in front, under the same name; one that has it already is returned as it
    /// is.
    Device over(Device device);

    /// Says what it has to say. Called when the process ends and the JVM's own shutdown does not run, as in a C
    /// program.
    void end();
}
