package verbena.wire.notation;

import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// How the notation sees a frame: by its opcode when the opcode is defined and its headers are all there, else as
/// a BTH with something behind it.
///
/// @param code the opcode's number
/// @param opcode null for the second view
record Shape(int code, @Nullable Opcode opcode) {
    /// The view of a frame of at least [Packet#BYTES_MIN] bytes.
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

    /// Bytes between headers and pad; without opcode all between BTH and ICRC.
    int payloadBytes(Frame frame) {
        return opcode == null
                ? frame.length - Packet.BYTES_MIN
                : frame.length - opcode.headerBytes() - Bth.padCount(frame.slot, frame.start) - Packet.ICRC_BYTES;
    }

    /// What the pad count has to be for this payload, if it does not have to be said.
    int padCountDerived(int payloadBytes) {
        return opcode == null ? 0 : Packet.padCount(payloadBytes);
    }

    /// The packet's first word or words: `WRITE_FIRST`, `UD_SEND_ONLY`, `opcode 0x1f`. Of an acknowledgement only
    /// what does not depend on its syndrome.
    String name() {
        return opcode == null ? "opcode 0x%02x".formatted(code) : prefix() + operationName(opcode);
    }

    /// `ACK`, `NAK sequence`, `RNR timer 20`; a reserved syndrome is a field of its own.
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

    /// Whether its name is not that of a transport and an operation.
    private static boolean hasOwnName(Opcode opcode) {
        return opcode == Opcode.CNP || opcode == Opcode.SELECTIVE_ACK;
    }
}
