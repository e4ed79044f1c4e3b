package verbena.nic.link.psp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmRefusal;
import verbena.nic.link.Link;
import verbena.nic.link.UdpSeal;
import verbena.verbs.Gid;
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

/// Answers a peer that asks for a connection without PSP, so that it learns why it gets none. The answer is as
/// plain as the request, and no longer. There are a few a second.
final class PlainRefusal {
    private static final Opcode OPCODE = Opcode.UD_SEND_ONLY;
    private static final int DEFAULT_PKEY = 0xFFFF;
    private static final int A_SECOND = 16;
    private static final long SECOND = 1_000_000_000;

    private final Link link;
    private long sinceNanos;
    private int left = A_SECOND;
    private int psn;

    /// @param link tells which port the answer leaves from
    PlainRefusal(Link link, long now) {
        this.link = link;
        sinceNanos = now;
    }

    /// Writes the answer to a plain arrival; false when there is none.
    boolean answer(Frame plain, Frame into, long now) {
        if (!isManagement(plain) || !isAllowed(now)) {
            return false;
        }
        Req request = request(plain);
        if (request == null) {
            return false;
        }
        left--;
        PrivateData why = CmRefusal.PSP_WANTED.info();
        int reason = RejectReason.UNSUPPORTED_REQUEST.code();
        var rej = new Rej(
                request.transactionId(), 0, request.localCommId(), 0, why.length(), reason, why, PrivateData.NONE);
        into.length = Packet.length(OPCODE, Mad.BYTES);
        into.sourceHigh = plain.destinationHigh;
        into.sourceLow = plain.destinationLow;
        into.destinationHigh = plain.sourceHigh;
        into.destinationLow = plain.sourceLow;
        into.trafficClass = 0;
        into.hopLimit = 0;
        Bth.write(into.slot, into.start, OPCODE, false, 0, DEFAULT_PKEY, Mad.QPN, false, psn++ & 0xFF_FFFF);
        Deth.write(into.slot, into.start + OPCODE.dethOffset(), Mad.QKEY, Mad.QPN);
        MemorySegment mad = into.slot.asSlice(Packet.payloadOffset(into, OPCODE), Mad.BYTES);
        mad.fill((byte) 0);
        rej.write(mad);
        int port = link.sourcePort(
                new Gid(into.sourceHigh, into.sourceLow), new Gid(into.destinationHigh, into.destinationLow));
        new UdpSeal(port == 0 ? RoceV2.UDP_PORT : port).seal(into, 0);
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
