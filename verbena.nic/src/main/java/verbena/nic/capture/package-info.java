/// Captures of what a device sends and receives: a [CaptureTap][verbena.nic.capture.CaptureTap] notes it down on
/// the engine's side, in a [ring][verbena.nic.capture.NoteRing] of a fixed size, and whoever reads makes pcapng of
/// it.
package verbena.nic.capture;
