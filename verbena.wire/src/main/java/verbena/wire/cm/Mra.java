package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A request for more time to answer (IBTA 12.6.6).
///
/// @param messageReceived the message to be answered: 0 a REQ, 1 a REP, 2 a LAP
/// @param serviceTimeout 5-bit code of the time
public record Mra(
        long transactionId,
        int localCommId,
        int remoteCommId,
        int messageReceived,
        int serviceTimeout,
        PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x11;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 222;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field REMOTE_COMM_ID = Field.of(4, 32);
    private static final Field MESSAGE_RECEIVED = Field.of(8, 2);
    private static final Field SERVICE_TIMEOUT = Field.of(9, 5);
    private static final int PRIVATE_DATA = 10;

    static Mra read(long transactionId, MemorySegment body) {
        return new Mra(
                transactionId,
                LOCAL_COMM_ID.getInt(body),
                REMOTE_COMM_ID.getInt(body),
                MESSAGE_RECEIVED.getInt(body),
                SERVICE_TIMEOUT.getInt(body),
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
        MESSAGE_RECEIVED.put(body, messageReceived);
        SERVICE_TIMEOUT.put(body, serviceTimeout);
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
