/// Captures of a device's traffic. On the engine's side, a [CaptureTap][verbena.nic.capture.CaptureTap] notes it
/// in a [ring][verbena.nic.capture.NoteRing] of a fixed size. The reader turns the notes into pcapng.
package verbena.nic.capture;
