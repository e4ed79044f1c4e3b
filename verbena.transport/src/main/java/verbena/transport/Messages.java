package verbena.transport;

import verbena.verbs.spi.SendOperation;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Transport;

/// The packet opcodes that a message is cut into (IBTA 9.2.1).
public final class Messages {
    /// Longest message, in bytes (IBTA 9.7.7).
    public static final long BYTES_MAX = 1L << 31;

    private Messages() {}

    /// Returns the opcode of one packet of a request.
    public static Opcode opcode(Transport transport, SendOperation operation, boolean first, boolean last) {
        return Opcode.of(transport, operation(operation, first, last));
    }

    private static Operation operation(SendOperation operation, boolean first, boolean last) {
        return switch (operation) {
            case SEND -> send(first, last, Operation.SEND_LAST, Operation.SEND_ONLY);
            case SEND_WITH_IMMEDIATE -> send(first, last, Operation.SEND_LAST_IMMEDIATE, Operation.SEND_ONLY_IMMEDIATE);
            case SEND_WITH_INVALIDATE ->
                send(first, last, Operation.SEND_LAST_INVALIDATE, Operation.SEND_ONLY_INVALIDATE);
            case WRITE -> write(first, last, Operation.WRITE_LAST, Operation.WRITE_ONLY);
            case WRITE_WITH_IMMEDIATE ->
                write(first, last, Operation.WRITE_LAST_IMMEDIATE, Operation.WRITE_ONLY_IMMEDIATE);
            case READ -> Operation.READ_REQUEST;
            case FETCH_ADD -> Operation.FETCH_ADD;
            case COMPARE_SWAP -> Operation.COMPARE_SWAP;
            case ATOMIC_WRITE -> Operation.ATOMIC_WRITE;
            case FLUSH -> Operation.FLUSH;
            case LOCAL_INVALIDATE, BIND_WINDOW, FAULTY ->
                throw new AssertionError(operation + " never leaves this side");
        };
    }

    private static Operation send(boolean first, boolean last, Operation ending, Operation only) {
        return pick(first, last, Operation.SEND_FIRST, Operation.SEND_MIDDLE, ending, only);
    }

    private static Operation write(boolean first, boolean last, Operation ending, Operation only) {
        return pick(first, last, Operation.WRITE_FIRST, Operation.WRITE_MIDDLE, ending, only);
    }

    /// Returns the opcode of one packet of a READ's answer.
    public static Opcode readResponse(Transport transport, boolean first, boolean last) {
        return Opcode.of(
                transport,
                pick(
                        first,
                        last,
                        Operation.READ_RESPONSE_FIRST,
                        Operation.READ_RESPONSE_MIDDLE,
                        Operation.READ_RESPONSE_LAST,
                        Operation.READ_RESPONSE_ONLY));
    }

    private static Operation pick(
            boolean isFirst, boolean isLast, Operation first, Operation middle, Operation last, Operation only) {
        return isFirst ? (isLast ? only : first) : (isLast ? last : middle);
    }
}
