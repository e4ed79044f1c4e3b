package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A message that refuses a connection (IBTA 12.6.7).
///
/// @param messageRejected the refused message: 0 a REQ, 1 a REP, 2 neither
/// @param infoLength bytes of additional information
/// @param reason see [RejectReason]
/// @param info additional reject information: the right value of the wrong field
public record Rej(
        long transactionId,
        int localCommId,
        int remoteCommId,
        int messageRejected,
        int infoLength,
        int reason,
        PrivateData info,
        PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x12;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 148;
    /// Bytes of additional information that it has room for.
    public static final int INFO_BYTES = 72;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field REMOTE_COMM_ID = Field.of(4, 32);
    private static final Field MESSAGE_REJECTED = Field.of(8, 2);
    private static final Field INFO_LENGTH = Field.of(9, 7);
    private static final Field REASON = Field.of(10, 16);
    private static final int INFO = 12;
    private static final int PRIVATE_DATA = 84;

    static Rej read(long transactionId, MemorySegment body) {
        return new Rej(
                transactionId,
                LOCAL_COMM_ID.getInt(body),
                REMOTE_COMM_ID.getInt(body),
                MESSAGE_REJECTED.getInt(body),
                INFO_LENGTH.getInt(body),
                REASON.getInt(body),
                PrivateData.read(body, INFO, INFO_BYTES),
                PrivateData.read(body, PRIVATE_DATA, PRIVATE_DATA_BYTES));
    }

    @Override
    public int attributeId() {
        return ATTRIBUTE;
    }

    @Override
    public void writeBody(MemorySegment body) {
        LOCAL_COMM_ID.put(body, localCommId);
        REMOTE_COMM_ID.put(body, remoteCommId);
        MESSAGE_REJECTED.put(body, messageRejected);
        INFO_LENGTH.put(body, infoLength);
        REASON.put(body, reason);
        info.write(body, INFO, INFO_BYTES);
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
