package verbena.sim.ethernet;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Packets that are not under way. A run makes as many as are under way at once, and no more.
final class PacketPool {
    private @Nullable LightPacket free;
    private int taken;
    private IntConsumer onFrameOver = frame -> {};

    /// Sets what is told that the content of a frame is needed no more: the frame has arrived, or was dropped.
    void onFrameOver(IntConsumer told) {
        onFrameOver = told;
    }

    LightPacket take(LightPacket.Kind kind, int bytes, int priority, long psn) {
        LightPacket packet = free;
        if (packet == null) {
            packet = new LightPacket();
        } else {
            free = packet.next;
            packet.next = null;
        }
        packet.serial = ++taken;
        packet.kind = kind;
        packet.bytes = bytes;
        packet.priority = priority;
        packet.psn = psn;
        packet.causedBy = psn;
        packet.marked = false;
        packet.isMarkable = true;
        packet.asks = false;
        packet.isMeasuring = false;
        return packet;
    }

    void give(LightPacket packet) {
        packet.flow = null;
        packet.to = LightPacket.NO_HOST;
        if (packet.frame != LightPacket.NO_FRAME) {
            onFrameOver.accept(packet.frame);
            packet.frame = LightPacket.NO_FRAME;
        }
        packet.next = free;
        free = packet;
    }
}
