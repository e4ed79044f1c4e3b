package verbena.wire.notation;

import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// The notation's view of a frame: by its opcode when the opcode is defined and its headers are all there, else as a
/// BTH with bytes behind it.
///
/// @param code the opcode's number
/// @param opcode null for the second view
record Shape(int code, @Nullable Opcode opcode) {
    /// Returns the view of a frame of at least [Packet#BYTES_MIN] bytes.
    static Shape of(Frame frame) {
        int code = Bth.opcode(frame.slot, frame.start);
        Opcode opcode = Opcode.of(code);
        int padCount = Bth.padCount(frame.slot, frame.start);
        boolean whole = opcode != null && opcode.headerBytes() + padCount + Packet.ICRC_BYTES <= frame.length;
        return new Shape(code, whole ? opcode : null);
    }

    boolean isAcknowledge() {
        return opcode != null && opcode.operation() == Operation.ACKNOWLEDGE;
    }

    /// Returns the number of bytes between headers and pad; without opcode, of all bytes between BTH and ICRC.
    int payloadBytes(Frame frame) {
        return opcode == null
                ? frame.length - Packet.BYTES_MIN
                : frame.length - opcode.headerBytes() - Bth.padCount(frame.slot, frame.start) - Packet.ICRC_BYTES;
    }

    /// Returns the pad count that follows from this payload, for a packet that does not name its pad count.
    int padCountDerived(int payloadBytes) {
        return opcode == null ? 0 : Packet.padCount(payloadBytes);
    }

    /// Returns the packet's first word or words: `WRITE_FIRST`, `UD_SEND_ONLY`, `opcode 0x1f`. For an
    /// acknowledgement, only the part that does not depend on its syndrome.
    String name() {
        return opcode == null ? "opcode 0x%02x".formatted(code) : prefix() + operationName(opcode);
    }

    /// Returns the name of an acknowledgement: `ACK`, `NAK sequence`, `RNR timer 20`; a reserved syndrome is a
    /// field of its own.
    String acknowledgeName(int syndrome) {
        return prefix()
                + switch (Syndrome.kind(syndrome)) {
                    case ACK -> "ACK";
                    case RNR_NAK, NAK -> Syndrome.text(syndrome);
                    case RESERVED -> Operation.ACKNOWLEDGE.name();
                };
    }

    private String prefix() {
        return opcode == null || opcode.transport() == Transport.RC || hasOwnName(opcode)
                ? ""
                : opcode.transport() + "_";
    }

    private static String operationName(Opcode opcode) {
        return hasOwnName(opcode) ? opcode.name() : opcode.operation().name();
    }

    /// Returns whether the opcode's name is not that of a transport and an operation.
    private static boolean hasOwnName(Opcode opcode) {
        return opcode == Opcode.CNP || opcode == Opcode.SELECTIVE_ACK;
    }
}
