package verbena.nic.capture;

import verbena.nic.link.tap.Tap;
import verbena.verbs.Device;

/// A device whose traffic can be captured. Any thread.
public interface CaptureSource {
    Device device();

    /// Returns the clock of taps, in nanoseconds.
    long nanoTime();

    /// Shows `tap` all traffic from now on.
    void tap(Tap tap);

    /// Detaches `tap`: when this has returned, it is not called again.
    void untap(Tap tap);

    /// Runs `close` when the device is closed, after its last packet.
    void beforeClosed(Runnable close);

    /// Removes `close`, so that it is not run.
    void cancelBeforeClosed(Runnable close);
}
