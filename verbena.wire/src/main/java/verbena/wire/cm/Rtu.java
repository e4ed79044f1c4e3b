package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A message that reports that the connection is ready for use (IBTA 12.6.9).
public record Rtu(long transactionId, int localCommId, int remoteCommId, PrivateData privateData) implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x14;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 224;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field REMOTE_COMM_ID = Field.of(4, 32);
    private static final int PRIVATE_DATA = 8;

    static Rtu read(long transactionId, MemorySegment body) {
        return new Rtu(
                transactionId,
                LOCAL_COMM_ID.getInt(body),
                REMOTE_COMM_ID.getInt(body),
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
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
