package verbena.sim.ethernet;

import org.jspecify.annotations.Nullable;

/// Packets that are not under way. A run makes as many as are under way at once, and no more.
final class PacketPool {
    private @Nullable LightPacket free;

    LightPacket take(LightPacket.Kind kind, @Nullable Transfer transfer, int bytes, int priority, long psn) {
        LightPacket packet = free;
        if (packet == null) {
            packet = new LightPacket();
        } else {
            free = packet.next;
            packet.next = null;
        }
        packet.kind = kind;
        packet.transfer = transfer;
        packet.bytes = bytes;
        packet.priority = priority;
        packet.psn = psn;
        packet.causedBy = psn;
        packet.marked = false;
        packet.asks = false;
        packet.isMeasuring = false;
        packet.isInHeadroom = false;
        return packet;
    }

    void give(LightPacket packet) {
        packet.transfer = null;
        packet.next = free;
        free = packet;
    }
}
