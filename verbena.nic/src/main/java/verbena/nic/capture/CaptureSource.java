package verbena.nic.capture;

import verbena.nic.link.Tap;
import verbena.verbs.Device;

/// A device whose traffic can be captured. Any thread.
public interface CaptureSource {
    Device device();

    /// The time that taps are given, in nanoseconds.
    long nanoTime();

    /// Shows `tap` everything that is sent and received from now on.
    void tap(Tap tap);

    /// Ends that: when this has returned, `tap` is not called again.
    void untap(Tap tap);

    /// Runs `close` when the device is closed, after its last packet.
    void beforeClosed(Runnable close);

    /// Takes that back.
    void neverMind(Runnable close);
}
