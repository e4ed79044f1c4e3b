package verbena.transport.rc;

import verbena.transport.queue.SendOperation;
import verbena.wire.ib.Opcode;

/// Which packet opcodes a message is cut into.
final class Messages {
    private Messages() {}

    /// The opcode of one packet of a SEND or WRITE.
    static Opcode opcode(SendOperation operation, boolean first, boolean last) {
        return switch (operation) {
            case SEND ->
                pick(
                        first,
                        last,
                        Opcode.RC_SEND_FIRST,
                        Opcode.RC_SEND_MIDDLE,
                        Opcode.RC_SEND_LAST,
                        Opcode.RC_SEND_ONLY);
            case SEND_WITH_IMMEDIATE ->
                pick(
                        first,
                        last,
                        Opcode.RC_SEND_FIRST,
                        Opcode.RC_SEND_MIDDLE,
                        Opcode.RC_SEND_LAST_IMMEDIATE,
                        Opcode.RC_SEND_ONLY_IMMEDIATE);
            case SEND_WITH_INVALIDATE ->
                pick(
                        first,
                        last,
                        Opcode.RC_SEND_FIRST,
                        Opcode.RC_SEND_MIDDLE,
                        Opcode.RC_SEND_LAST_INVALIDATE,
                        Opcode.RC_SEND_ONLY_INVALIDATE);
            case WRITE ->
                pick(
                        first,
                        last,
                        Opcode.RC_WRITE_FIRST,
                        Opcode.RC_WRITE_MIDDLE,
                        Opcode.RC_WRITE_LAST,
                        Opcode.RC_WRITE_ONLY);
            case WRITE_WITH_IMMEDIATE ->
                pick(
                        first,
                        last,
                        Opcode.RC_WRITE_FIRST,
                        Opcode.RC_WRITE_MIDDLE,
                        Opcode.RC_WRITE_LAST_IMMEDIATE,
                        Opcode.RC_WRITE_ONLY_IMMEDIATE);
            case READ -> Opcode.RC_READ_REQUEST;
            case FETCH_ADD -> Opcode.RC_FETCH_ADD;
            case COMPARE_SWAP -> Opcode.RC_COMPARE_SWAP;
            case ATOMIC_WRITE -> Opcode.RC_ATOMIC_WRITE;
            case FLUSH -> Opcode.RC_FLUSH;
            case LOCAL_INVALIDATE, BIND_WINDOW -> throw new AssertionError(operation + " never leaves this side");
        };
    }

    /// The opcode of one packet of a READ's answer.
    static Opcode readResponse(boolean first, boolean last) {
        return pick(
                first,
                last,
                Opcode.RC_READ_RESPONSE_FIRST,
                Opcode.RC_READ_RESPONSE_MIDDLE,
                Opcode.RC_READ_RESPONSE_LAST,
                Opcode.RC_READ_RESPONSE_ONLY);
    }

    private static Opcode pick(boolean isFirst, boolean isLast, Opcode first, Opcode middle, Opcode last, Opcode only) {
        return isFirst ? (isLast ? only : first) : (isLast ? last : middle);
    }
}
