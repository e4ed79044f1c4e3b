package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A message that ends a connection (IBTA 12.6.10).
///
/// @param remoteQpn queue pair of the receiver
public record Dreq(long transactionId, int localCommId, int remoteCommId, int remoteQpn, PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x15;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 220;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field REMOTE_COMM_ID = Field.of(4, 32);
    private static final Field REMOTE_QPN = Field.of(8, 24);
    private static final int PRIVATE_DATA = 12;

    static Dreq read(long transactionId, MemorySegment body) {
        return new Dreq(
                transactionId,
                LOCAL_COMM_ID.getInt(body),
                REMOTE_COMM_ID.getInt(body),
                REMOTE_QPN.getInt(body),
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
        REMOTE_QPN.put(body, remoteQpn);
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
