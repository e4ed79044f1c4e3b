package verbena.transport;

/// What the engine, the simulator and a test know of a queue pair's protocol over packets: four verbs. Engine-confined.
///
/// Arrivals are pushed ([PacketHandler]), departures are pulled and timers are asked for ([Scheduled]).
public interface Protocol extends Scheduled, PacketHandler {}
