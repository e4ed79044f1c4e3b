package verbena.wire.notation;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.ImmediateData;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.Terminate;
import verbena.wire.iwarp.TerminateCode;

/// The text of a TCP stream of iWARP: the frames of MPA, and FPDUs without markers. See docs/notation.md.
public final class FpduText {
    private FpduText() {}

    /// Names for places in memory: a key, and an offset in its memory.
    @FunctionalInterface
    public interface Places {
        /// Numbers, as they are in the packet.
        Places NUMBERS = "stag 0x%08x to 0x%x"::formatted;

        String name(int stag, long offset);
    }

    /// Returns the opcode of an FPDU; null when its opcode is undefined, or when it is too short for its headers.
    public static @Nullable RdmapOpcode opcode(MemorySegment fpdu) {
        int ulpdu = Fpdu.ulpduLength(fpdu, 0);
        if (ulpdu < Ddp.TAGGED_BYTES) {
            return null;
        }
        RdmapOpcode opcode = RdmapOpcode.of(Ddp.opcode(fpdu, Fpdu.LENGTH_BYTES));
        return opcode == null || ulpdu < opcode.headerBytes() + bodyBytes(opcode) ? null : opcode;
    }

    /// Returns the number of bytes that are always there behind the DDP header.
    private static int bodyBytes(RdmapOpcode opcode) {
        return switch (opcode) {
            case READ_REQUEST -> ReadRequest.BYTES;
            case ATOMIC_REQUEST -> AtomicRequest.BYTES;
            case ATOMIC_RESPONSE -> AtomicResponse.BYTES;
            case IMMEDIATE, IMMEDIATE_SOLICITED -> ImmediateData.BYTES;
            case TERMINATE -> Terminate.CONTROL_BYTES;
            case WRITE, READ_RESPONSE, SEND, SEND_INVALIDATE, SEND_SOLICITED, SEND_SOLICITED_INVALIDATE -> 0;
        };
    }

    /// Prints an FPDU in a line.
    public static String format(MemorySegment fpdu, Places places) {
        RdmapOpcode opcode = opcode(fpdu);
        if (opcode == null) {
            return "FPDU of no known kind | " + Fpdu.ulpduLength(fpdu, 0);
        }
        int ddp = Fpdu.LENGTH_BYTES;
        int body = ddp + opcode.headerBytes();
        String tail =
                (Ddp.isLast(fpdu, ddp) ? " last" : "") + " | " + (Fpdu.ulpduLength(fpdu, 0) - opcode.headerBytes());
        return switch (opcode) {
            case WRITE, READ_RESPONSE ->
                opcode + " " + places.name(Ddp.stag(fpdu, ddp), Ddp.taggedOffset(fpdu, ddp)) + tail;
            case READ_REQUEST ->
                opcode + " " + places.name(ReadRequest.sourceStag(fpdu, body), ReadRequest.sourceOffset(fpdu, body))
                        + " len " + ReadRequest.size(fpdu, body) + " to "
                        + places.name(ReadRequest.sinkStag(fpdu, body), ReadRequest.sinkOffset(fpdu, body));
            case ATOMIC_REQUEST ->
                (AtomicRequest.operation(fpdu, body) == AtomicRequest.FETCH_ADD ? "FETCH_ADD " : "CMP_SWAP ")
                        + places.name(AtomicRequest.stag(fpdu, body), AtomicRequest.taggedOffset(fpdu, body));
            case ATOMIC_RESPONSE -> opcode + " original " + AtomicResponse.original(fpdu, body);
            case IMMEDIATE, IMMEDIATE_SOLICITED -> opcode + " 0x%08x".formatted(ImmediateData.immediate(fpdu, body));
            case TERMINATE -> opcode + " " + reason(fpdu, body);
            case SEND, SEND_SOLICITED -> opcode + message(fpdu, ddp) + tail;
            case SEND_INVALIDATE, SEND_SOLICITED_INVALIDATE ->
                opcode + message(fpdu, ddp) + " inv 0x%08x".formatted(Ddp.invalidateStag(fpdu, ddp)) + tail;
        };
    }

    private static String message(MemorySegment fpdu, int ddp) {
        long offset = Ddp.messageOffset(fpdu, ddp);
        return " msn " + Ddp.msn(fpdu, ddp) + (offset == 0 ? "" : " offset " + offset);
    }

    private static String reason(MemorySegment fpdu, int body) {
        TerminateCode code = code(fpdu, body);
        return code == null
                ? "layer %d type %d code %d"
                        .formatted(Terminate.layer(fpdu, body), Terminate.type(fpdu, body), Terminate.code(fpdu, body))
                : code.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// Returns the reason for which a TERMINATE ends the connection; null when the code is undefined.
    ///
    /// @param body the offset of its body, behind its DDP header
    public static @Nullable TerminateCode code(MemorySegment fpdu, int body) {
        return TerminateCode.of(Terminate.layer(fpdu, body), Terminate.type(fpdu, body), Terminate.code(fpdu, body));
    }

    /// Prints a request or a reply that starts an MPA connection, in a line.
    public static String mpa(MemorySegment frame, boolean isReply) {
        int flags = MpaFrame.flags(frame, 0);
        var line = new StringBuilder(isReply ? "MPA reply" : "MPA request");
        line.append(" rev ").append(MpaFrame.revision(frame, 0));
        if (MpaFrame.isEnhanced(frame, 0)) {
            int ird = MpaFrame.irdWord(frame, 0);
            line.append(" ird ").append(ird & MpaFrame.DEPTH_MAX);
            line.append(" ord ").append(MpaFrame.ordWord(frame, 0) & MpaFrame.DEPTH_MAX);
            line.append((ird & MpaFrame.PEER_TO_PEER) == 0 ? "" : " p2p" + rtr(frame));
        }
        line.append((flags & MpaFrame.CRC) == 0 ? "" : " crc");
        line.append((flags & MpaFrame.MARKERS) == 0 ? "" : " markers");
        line.append((flags & MpaFrame.REJECT) == 0 ? "" : " reject");
        return line.append(" | ").append(MpaFrame.privateDataLength(frame, 0)).toString();
    }

    /// Lists the kinds of message that may come first (RFC 6581 9).
    private static String rtr(MemorySegment frame) {
        int ird = MpaFrame.irdWord(frame, 0);
        int ord = MpaFrame.ordWord(frame, 0);
        var kinds = new StringJoiner(",", " rtr ", "").setEmptyValue("");
        if ((ird & MpaFrame.RTR_SEND) != 0) {
            kinds.add("send");
        }
        if ((ord & MpaFrame.RTR_WRITE) != 0) {
            kinds.add("write");
        }
        if ((ord & MpaFrame.RTR_READ) != 0) {
            kinds.add("read");
        }
        return kinds.toString();
    }
}
