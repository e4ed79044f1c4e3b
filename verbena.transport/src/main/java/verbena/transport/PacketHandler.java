package verbena.transport;

import verbena.wire.Frame;
import verbena.wire.ib.Opcode;

/// Takes packets. Engine-confined. Never blocks, allocates or throws, whatever arrives.
public interface PacketHandler {
    /// Takes no packet, for a queue pair whose messages travel in other ways.
    PacketHandler NONE = (_, _, _) -> PacketFate.DROPPED_WRONG_SERVICE;

    /// Handles a packet that has arrived. Its lengths and ICRC have been checked, and `opcode` is that of its BTH.
    /// The frame is free again when this returns.
    PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos);
}
