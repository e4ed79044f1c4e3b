package verbena.transport;

/// A queue pair's protocol over packets, as the engine, the simulator and tests know it: four methods.
/// Engine-confined.
///
/// Arrivals are pushed ([PacketHandler]), departures are pulled and timers are asked for ([Scheduled]).
public interface Protocol extends Scheduled, PacketHandler {}
