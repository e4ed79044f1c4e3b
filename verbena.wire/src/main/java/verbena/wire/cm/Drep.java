package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A message that confirms the end of a connection (IBTA 12.6.11).
public record Drep(long transactionId, int localCommId, int remoteCommId, PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x16;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 224;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field REMOTE_COMM_ID = Field.of(4, 32);
    private static final int PRIVATE_DATA = 8;

    static Drep read(long transactionId, MemorySegment body) {
        return new Drep(
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
