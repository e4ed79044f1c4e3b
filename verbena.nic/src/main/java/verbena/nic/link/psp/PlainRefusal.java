package verbena.nic.link.psp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmRefusal;
import verbena.wire.Frame;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Req;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.mad.Mad;
import verbena.wire.roce.RoceV2;

/// Answers to requests for connections of which one end has no PSP, so that its program learns why it gets none. An
/// answer is as plain as the request, and no longer. There are a few a second.
final class PlainRefusal {
    private static final Opcode OPCODE = Opcode.UD_SEND_ONLY;
    private static final int DEFAULT_PKEY = 0xFFFF;
    private static final int A_SECOND = 16;
    private static final long SECOND = 1_000_000_000;

    private long sinceNanos;
    private int left = A_SECOND;
    private int psn;

    PlainRefusal(long now) {
        sinceNanos = now;
    }

    /// Writes the answer to a plain packet; false when there is none.
    boolean answer(Frame plain, CmRefusal why, Frame into, long now) {
        if (!isManagement(plain) || !isAllowed(now)) {
            return false;
        }
        Req request = request(plain);
        if (request == null) {
            return false;
        }
        left--;
        PrivateData text = why.info();
        int reason = RejectReason.UNSUPPORTED_REQUEST.code();
        var rej = new Rej(
                request.transactionId(), 0, request.localCommId(), 0, text.length(), reason, text, PrivateData.NONE);
        into.length = Packet.length(OPCODE, Mad.BYTES);
        into.sourceHigh = plain.destinationHigh;
        into.sourceLow = plain.destinationLow;
        into.destinationHigh = plain.sourceHigh;
        into.destinationLow = plain.sourceLow;
        into.sourcePort = RoceV2.UDP_PORT;
        into.trafficClass = 0;
        into.hopLimit = 0;
        into.icrcValid = true;
        Bth.write(into.slot, into.start, OPCODE, false, 0, DEFAULT_PKEY, Mad.QPN, false, psn++ & 0xFF_FFFF);
        Deth.write(into.slot, into.start + OPCODE.dethOffset(), Mad.QKEY, Mad.QPN);
        MemorySegment mad = into.slot.asSlice(Packet.payloadOffset(into, OPCODE), Mad.BYTES);
        mad.fill((byte) 0);
        rej.write(mad);
        return true;
    }

    private static boolean isManagement(Frame plain) {
        return plain.length == Packet.length(OPCODE, Mad.BYTES)
                && Opcode.of(plain.slot.get(ValueLayout.JAVA_BYTE, plain.start)) == OPCODE
                && Bth.destinationQp(plain.slot, plain.start) == Mad.QPN;
    }

    private boolean isAllowed(long now) {
        if (now - sinceNanos >= SECOND) {
            sinceNanos = now;
            left = A_SECOND;
        }
        return left > 0;
    }

    private static @Nullable Req request(Frame plain) {
        MemorySegment mad = plain.slot.asSlice(Packet.payloadOffset(plain, OPCODE), Mad.BYTES);
        return CmMessage.read(mad) instanceof Req request ? request : null;
    }
}
