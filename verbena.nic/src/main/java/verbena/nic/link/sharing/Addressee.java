package verbena.nic.link.sharing;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.cm.Rej;
import verbena.wire.cm.Req;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.mad.Mad;

/// The choice of the link that a packet is for, among the links that share an address. It reads the fixed places of
/// the headers, before any other check. A malformed packet is for any link; the device of that link then refuses it.
///
/// Numbers that a device has assigned begin with its slot. Management datagrams all go to queue pair 1. A
/// response names the communication ID or the request ID of the device that asked; a request names a service.
public final class Addressee {
    /// The packet is for any link: the one that has received it.
    public static final int ANY_LINK = -1;
    /// The packet is for the link that has claimed its [#service(Frame)].
    public static final int SERVICE = -2;
    /// The packet is for every link: a REJ from a peer that does not know our number of the connection yet.
    public static final int EVERY_LINK = -3;

    /// The number of bits of a queue pair number below the slot.
    public static final int SLOT_SHIFT = 16;

    // The positions of the fields in a packet.
    public static final int QPN_AT = 5;
    public static final int MAD_AT = Bth.BYTES + Deth.BYTES;
    static final int CLASS_AT = MAD_AT + 1;
    static final int ATTRIBUTE_AT = MAD_AT + 16;
    static final int MESSAGE_AT = MAD_AT + Mad.HEADER_BYTES;
    static final int REQUEST_ID_AT = MESSAGE_AT;
    static final int REMOTE_COMM_ID_AT = MESSAGE_AT + 4;
    private static final int SERVICE_AT = MESSAGE_AT + 8;
    private static final int SERVICE_END = SERVICE_AT + 8;

    private Addressee() {}

    /// Returns the slot of the packet's receiver, or one of the constants.
    ///
    /// @param frame at least a BTH
    public static int of(Frame frame) {
        MemorySegment slot = frame.slot;
        int start = frame.start;
        int qpn = BigEndian.u24(slot, start + QPN_AT);
        if (qpn > Mad.QPN && qpn != Bth.MULTICAST_QP) {
            return qpn >>> SLOT_SHIFT;
        }
        if (qpn != Mad.QPN || frame.length < SERVICE_END || BigEndian.u8(slot, start + CLASS_AT) != Mad.CLASS_CM) {
            return ANY_LINK;
        }
        int attribute = BigEndian.u16(slot, start + ATTRIBUTE_AT);
        return switch (attribute) {
            case Req.ATTRIBUTE, SidrReq.ATTRIBUTE -> SERVICE;
            case SidrRep.ATTRIBUTE -> BigEndian.u8(slot, start + REQUEST_ID_AT);
            default ->
                attribute == Rej.ATTRIBUTE && BigEndian.u32(slot, start + REMOTE_COMM_ID_AT) == 0
                        ? EVERY_LINK
                        : BigEndian.u8(slot, start + REMOTE_COMM_ID_AT);
        };
    }

    /// Returns the service that a packet for [#SERVICE] names.
    public static long service(Frame frame) {
        return BigEndian.i64(frame.slot, frame.start + SERVICE_AT);
    }
}
