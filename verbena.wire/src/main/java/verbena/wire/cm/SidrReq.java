package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A request for the queue pair that takes datagrams for a service (IBTA 12.11.1).
///
/// @param requestId the sender's name for the question
public record SidrReq(long transactionId, int requestId, int pkey, long serviceId, PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x17;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 216;

    private static final Field REQUEST_ID = Field.of(0, 32);
    private static final Field PKEY = Field.of(4, 16);
    private static final Field SERVICE_ID = Field.of(8, 64);
    private static final int PRIVATE_DATA = 16;

    static SidrReq read(long transactionId, MemorySegment body) {
        return new SidrReq(
                transactionId,
                REQUEST_ID.getInt(body),
                PKEY.getInt(body),
                SERVICE_ID.get(body),
                PrivateData.read(body, PRIVATE_DATA, PRIVATE_DATA_BYTES));
    }

    @Override
    public int attributeId() {
        return ATTRIBUTE;
    }

    @Override
    public void writeBody(MemorySegment body) {
        REQUEST_ID.put(body, requestId);
        PKEY.put(body, pkey);
        SERVICE_ID.put(body, serviceId);
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
