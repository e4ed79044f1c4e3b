package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A message that reports the state of the alternate path of a [Lap] (IBTA 12.8.2).
///
/// @param infoLength bytes of additional information
/// @param status [#LOADED], or why not
/// @param info additional information: the right value of the wrong field
public record Apr(
        long transactionId,
        int localCommId,
        int remoteCommId,
        int infoLength,
        int status,
        PrivateData info,
        PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x1A;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 148;
    /// Bytes of additional information that it has room for.
    public static final int INFO_BYTES = 72;

    /// [#status]: the path is loaded.
    public static final int LOADED = 0;
    /// [#status]: alternate paths are not supported.
    public static final int NOT_SUPPORTED = 2;
    /// [#status]: the path is rejected.
    public static final int REJECTED = 3;
    /// [#status]: the number of the queue pair is wrong.
    public static final int INVALID_QPN = 6;
    /// [#status]: a LID is wrong.
    public static final int INVALID_LID = 7;
    /// [#status]: a GID is wrong.
    public static final int INVALID_GID = 8;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field REMOTE_COMM_ID = Field.of(4, 32);
    private static final Field INFO_LENGTH = Field.of(8, 8);
    private static final Field STATUS = Field.of(9, 8);
    private static final int INFO = 12;
    private static final int PRIVATE_DATA = 84;

    static Apr read(long transactionId, MemorySegment body) {
        return new Apr(
                transactionId,
                LOCAL_COMM_ID.getInt(body),
                REMOTE_COMM_ID.getInt(body),
                INFO_LENGTH.getInt(body),
                STATUS.getInt(body),
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
        INFO_LENGTH.put(body, infoLength);
        STATUS.put(body, status);
        info.write(body, INFO, INFO_BYTES);
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
