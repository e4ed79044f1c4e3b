package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.wire.mad.Field;
import verbena.wire.mad.Mad;

/// A message of the communication manager. Offsets in its tables count from the end of the [Mad] header.
public sealed interface CmMessage permits Req, Mra, Rej, Rep, Rtu, Dreq, Drep, Lap, Apr, SidrReq, SidrRep {
    /// Ties an answer to what it answers; a message that is sent again has the same.
    long transactionId();

    /// Returns the attribute ID of the message's kind.
    int attributeId();

    /// Writes the fields behind the header.
    ///
    /// @param body zeroes
    void writeBody(MemorySegment body);

    /// Writes the whole management datagram, [Mad#BYTES].
    default void write(MemorySegment mad) {
        Mad.write(mad, Mad.CLASS_CM, Mad.CM_VERSION, Mad.METHOD_SEND, transactionId(), attributeId(), 0);
        writeBody(mad.asSlice(Mad.HEADER_BYTES, Mad.BYTES - Mad.HEADER_BYTES));
    }

    /// Reads a management datagram of [Mad#BYTES]. Null when it is none of the communication manager's, or of a
    /// kind that is not known here.
    static @Nullable CmMessage read(MemorySegment mad) {
        if (Mad.baseVersion(mad) != 1
                || Mad.managementClass(mad) != Mad.CLASS_CM
                || Mad.classVersion(mad) != Mad.CM_VERSION
                || Mad.method(mad) != Mad.METHOD_SEND) {
            return null;
        }
        long transaction = Mad.transactionId(mad);
        MemorySegment body = mad.asSlice(Mad.HEADER_BYTES, Mad.BYTES - Mad.HEADER_BYTES);
        return switch (Mad.attributeId(mad)) {
            case Req.ATTRIBUTE -> Req.read(transaction, body);
            case Mra.ATTRIBUTE -> Mra.read(transaction, body);
            case Rej.ATTRIBUTE -> Rej.read(transaction, body);
            case Rep.ATTRIBUTE -> Rep.read(transaction, body);
            case Rtu.ATTRIBUTE -> Rtu.read(transaction, body);
            case Dreq.ATTRIBUTE -> Dreq.read(transaction, body);
            case Drep.ATTRIBUTE -> Drep.read(transaction, body);
            case Lap.ATTRIBUTE -> Lap.read(transaction, body);
            case Apr.ATTRIBUTE -> Apr.read(transaction, body);
            case SidrReq.ATTRIBUTE -> SidrReq.read(transaction, body);
            case SidrRep.ATTRIBUTE -> SidrRep.read(transaction, body);
            default -> null;
        };
    }

    /// Returns whether the message is a REQ of another version of the class, which [#read] does not know for that
    /// reason alone. Such a REQ deserves an answer (IBTA 12.6.7.2, reason 31), because the header and the
    /// communication ID lie where they always did.
    static boolean isRequestOfOtherVersion(MemorySegment mad) {
        return Mad.baseVersion(mad) == 1
                && Mad.managementClass(mad) == Mad.CLASS_CM
                && Mad.classVersion(mad) != Mad.CM_VERSION
                && Mad.method(mad) == Mad.METHOD_SEND
                && Mad.attributeId(mad) == Req.ATTRIBUTE;
    }

    /// Returns the sender's communication ID in a management datagram of this class, whatever the message is.
    static int localCommId(MemorySegment mad) {
        // Where every message of the class but those of SIDR has it.
        return Field.of(Mad.HEADER_BYTES, 32).getInt(mad);
    }
}
