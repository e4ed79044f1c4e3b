package verbena.transport;

/// The protocol of a queue pair over packets.
public interface QueuePairProtocol extends Protocol, QueuePairLife {}
