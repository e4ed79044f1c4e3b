package verbena.wire.ib;

import java.util.Objects;
import verbena.wire.Frame;

/// A frame's content as an IB packet: headers, payload, pad, ICRC (IBTA 9.1).
///
/// [#check(Frame)] is called once, where a frame enters; after [Malformed#OK] no other method here and no getter
/// of a header that the opcode carries can fail. Offsets are those of [Frame#slot].
public final class Packet {
    /// Bytes of the ICRC at a packet's end.
    public static final int ICRC_BYTES = 4;
    /// The shortest packet, in bytes: BTH and ICRC.
    public static final int BYTES_MIN = Bth.BYTES + ICRC_BYTES;

    private Packet() {}

    /// Judges the shape of the packet, as far as no queue pair is needed for that. Reads nothing beyond
    /// [Frame#length]. The payload of requests that may have some is for the responder, which NAKs a wrong one
    /// (see [Payload#allows(int, int)]); the ICRC is for the link.
    public static Malformed check(Frame frame) {
        int length = frame.length;
        if (length < BYTES_MIN) {
            return Malformed.TOO_SHORT;
        }
        if (length > Frame.PACKET_MAX) {
            return Malformed.TOO_LONG;
        }
        if (Bth.version(frame.slot, frame.start) != 0) {
            return Malformed.BAD_VERSION;
        }
        Opcode opcode = Opcode.of(Bth.opcode(frame.slot, frame.start));
        if (opcode == null) {
            return Malformed.UNKNOWN_OPCODE;
        }
        int padCount = Bth.padCount(frame.slot, frame.start);
        int payloadBytes = length - opcode.headerBytes() - padCount - ICRC_BYTES;
        if ((length & 3) != 0 || payloadBytes < 0) {
            return Malformed.BAD_LENGTH;
        }
        return switch (opcode.payload()) {
            case NONE, SIXTEEN -> {
                if (padCount != 0) {
                    yield Malformed.BAD_PAD;
                }
                yield opcode.payload().allows(payloadBytes) ? Malformed.OK : Malformed.BAD_PAYLOAD;
            }
            // A queue pair that knows its MTU answers a wrong length here, and some with a NAK (IBTA 9.7.4.1.6).
            case FULL_MTU, ONE_TO_MTU, ZERO_TO_MTU, EIGHT -> Malformed.OK;
        };
    }

    /// Returns the opcode of a checked frame.
    public static Opcode opcode(Frame frame) {
        return Objects.requireNonNull(Opcode.of(Bth.opcode(frame.slot, frame.start)), "the frame was not checked");
    }

    /// Returns the offset in the slot at which the payload of a packet with this opcode starts.
    public static int payloadOffset(Frame frame, Opcode opcode) {
        return frame.start + opcode.headerBytes();
    }

    /// Returns the number of bytes of payload, without pad, of a checked frame with this opcode.
    public static int payloadBytes(Frame frame, Opcode opcode) {
        return frame.length - opcode.headerBytes() - Bth.padCount(frame.slot, frame.start) - ICRC_BYTES;
    }

    /// Returns the number of bytes of padding that follow a payload of `payloadBytes`.
    public static int padCount(int payloadBytes) {
        return -payloadBytes & 3;
    }

    /// Returns the length of a packet, BTH through ICRC, for [Frame#length].
    public static int length(Opcode opcode, int payloadBytes) {
        return opcode.headerBytes() + payloadBytes + padCount(payloadBytes) + ICRC_BYTES;
    }
}
