package verbena.sim.ethernet;

import org.jspecify.annotations.Nullable;

/// A flow of packets that hosts send and receive. Each packet names its flow.
abstract class Flow {
    /// The priority of its data, 0 to 6; a higher one goes first.
    final int priority;
    /// Whether its host has it among those that may send.
    boolean isQueued;

    Flow(int priority) {
        this.priority = priority;
    }

    /// Gives the next packet, and asks for another turn when there is more; null when nothing may be sent for now.
    abstract @Nullable LightPacket send(long now);

    /// Takes a packet of data, at the receiver.
    abstract void received(LightPacket packet, long now);

    /// Takes an answer, at the sender.
    abstract void answered(LightPacket answer, long now);
}
