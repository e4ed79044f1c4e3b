package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// The answer to a [SidrReq] (IBTA 12.11.2).
///
/// @param status 0 valid, 1 not supported, 2 rejected, 3 no queue pair, 4 redirect, 5 version
/// @param infoLength bytes of additional information
public record SidrRep(
        long transactionId,
        int requestId,
        int status,
        int infoLength,
        int qpn,
        long serviceId,
        int qkey,
        PrivateData info,
        PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x18;
    /// [#status]: here is the queue pair.
    public static final int VALID = 0;
    /// [#status]: there is no such service for datagrams.
    public static final int NOT_SUPPORTED = 1;
    /// [#status]: a refusal by the application.
    public static final int REJECTED = 2;
    /// [#status]: there is no queue pair for it.
    public static final int NO_QP = 3;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 136;
    /// Bytes of additional information that it has room for.
    public static final int INFO_BYTES = 72;

    private static final Field REQUEST_ID = Field.of(0, 32);
    private static final Field STATUS = Field.of(4, 8);
    private static final Field INFO_LENGTH = Field.of(5, 8);
    private static final Field QPN = Field.of(8, 24);
    private static final Field SERVICE_ID = Field.of(12, 64);
    private static final Field QKEY = Field.of(20, 32);
    private static final int INFO = 24;
    private static final int PRIVATE_DATA = 96;

    static SidrRep read(long transactionId, MemorySegment body) {
        return new SidrRep(
                transactionId,
                REQUEST_ID.getInt(body),
                STATUS.getInt(body),
                INFO_LENGTH.getInt(body),
                QPN.getInt(body),
                SERVICE_ID.get(body),
                QKEY.getInt(body),
                PrivateData.read(body, INFO, INFO_BYTES),
                PrivateData.read(body, PRIVATE_DATA, PRIVATE_DATA_BYTES));
    }

    @Override
    public int attributeId() {
        return ATTRIBUTE;
    }

    @Override
    public void writeBody(MemorySegment body) {
        REQUEST_ID.put(body, requestId);
        STATUS.put(body, status);
        INFO_LENGTH.put(body, infoLength);
        QPN.put(body, qpn);
        SERVICE_ID.put(body, serviceId);
        QKEY.put(body, qkey);
        info.write(body, INFO, INFO_BYTES);
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
