package verbena.sim.ethernet;

import org.jspecify.annotations.Nullable;

/// Packets in the order in which they came, linked to each other.
final class PacketQueue {
    private @Nullable LightPacket first;
    private @Nullable LightPacket last;
    private long bytes;

    boolean isEmpty() {
        return first == null;
    }

    @Nullable
    LightPacket first() {
        return first;
    }

    long bytes() {
        return bytes;
    }

    void add(LightPacket packet) {
        packet.next = null;
        if (last == null) {
            first = packet;
        } else {
            last.next = packet;
        }
        last = packet;
        bytes += packet.bytes;
    }

    /// Takes the first; null when there is none.
    @Nullable
    LightPacket poll() {
        LightPacket packet = first;
        if (packet == null) {
            return null;
        }
        first = packet.next;
        if (first == null) {
            last = null;
        }
        packet.next = null;
        bytes -= packet.bytes;
        return packet;
    }
}
