package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A request for a connection (IBTA 12.6.5).
///
/// @param localCommId the sender's name for the connection, not 0
/// @param serviceId the service that it wants to reach; see [IpCmHeader#serviceId]
/// @param localCaGuid of the sender's device; names its host together with the communication ID
/// @param localQkey 32 bits that mean something for reliable datagrams; two Verbena ends tell each other in it
///     what the standard has no field for (`CmExtension`)
/// @param responderResources READs and atomics that the sender can serve at once
/// @param initiatorDepth READs and atomics that it means to have outstanding
/// @param remoteResponseTimeout 5-bit code of how long the receiver may take to answer
/// @param transportType 0 RC, 1 UC, 2 RD, 3 extended
/// @param flowControl whether credits are used
/// @param startingPsn first PSN that the receiver is to send
/// @param localResponseTimeout 5-bit code of how long the sender may take to answer
/// @param retryCount for both queue pairs
/// @param pathMtu 1 for 256 bytes to 5 for 4096
/// @param rnrRetryCount for the receiver's queue pair
/// @param maxCmRetries how often this message is sent again
/// @param alternate the path that both queue pairs migrate to when the first fails; [CmPath#NONE] on RoCE
public record Req(
        long transactionId,
        int localCommId,
        long serviceId,
        long localCaGuid,
        int localQkey,
        int localQpn,
        int responderResources,
        int initiatorDepth,
        int remoteResponseTimeout,
        int transportType,
        boolean flowControl,
        int startingPsn,
        int localResponseTimeout,
        int retryCount,
        int pkey,
        int pathMtu,
        int rnrRetryCount,
        int maxCmRetries,
        boolean sharedReceiveQueue,
        CmPath primary,
        CmPath alternate,
        PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x10;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 92;
    /// [#transportType] of a reliable connection.
    public static final int RC = 0;
    /// [#transportType] of an unreliable connection.
    public static final int UC = 1;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field SERVICE_ID = Field.of(8, 64);
    private static final Field LOCAL_CA_GUID = Field.of(16, 64);
    private static final Field LOCAL_QKEY = Field.of(28, 32);
    private static final Field LOCAL_QPN = Field.of(32, 24);
    private static final Field RESPONDER_RESOURCES = Field.of(35, 8);
    private static final Field INITIATOR_DEPTH = Field.of(39, 8);
    private static final Field REMOTE_RESPONSE_TIMEOUT = Field.of(43, 5);
    private static final Field TRANSPORT_TYPE = new Field(43, 5, 2);
    private static final Field FLOW_CONTROL = new Field(43, 7, 1);
    private static final Field STARTING_PSN = Field.of(44, 24);
    private static final Field LOCAL_RESPONSE_TIMEOUT = Field.of(47, 5);
    private static final Field RETRY_COUNT = new Field(47, 5, 3);
    private static final Field PKEY = Field.of(48, 16);
    private static final Field PATH_MTU = Field.of(50, 4);
    private static final Field RNR_RETRY_COUNT = new Field(50, 5, 3);
    private static final Field MAX_CM_RETRIES = Field.of(51, 4);
    private static final Field SHARED_RECEIVE_QUEUE = new Field(51, 4, 1);
    private static final int PRIMARY = 52;
    private static final int ALTERNATE = 96;
    private static final int PRIVATE_DATA = 140;

    static Req read(long transactionId, MemorySegment body) {
        return new Req(
                transactionId,
                LOCAL_COMM_ID.getInt(body),
                SERVICE_ID.get(body),
                LOCAL_CA_GUID.get(body),
                LOCAL_QKEY.getInt(body),
                LOCAL_QPN.getInt(body),
                RESPONDER_RESOURCES.getInt(body),
                INITIATOR_DEPTH.getInt(body),
                REMOTE_RESPONSE_TIMEOUT.getInt(body),
                TRANSPORT_TYPE.getInt(body),
                FLOW_CONTROL.getBoolean(body),
                STARTING_PSN.getInt(body),
                LOCAL_RESPONSE_TIMEOUT.getInt(body),
                RETRY_COUNT.getInt(body),
                PKEY.getInt(body),
                PATH_MTU.getInt(body),
                RNR_RETRY_COUNT.getInt(body),
                MAX_CM_RETRIES.getInt(body),
                SHARED_RECEIVE_QUEUE.getBoolean(body),
                CmPath.read(body.asSlice(PRIMARY, CmPath.BYTES)),
                CmPath.read(body.asSlice(ALTERNATE, CmPath.BYTES)),
                PrivateData.read(body, PRIVATE_DATA, PRIVATE_DATA_BYTES));
    }

    /// Returns the same message with other private data.
    public Req withPrivateData(PrivateData privateData) {
        return new Req(
                transactionId,
                localCommId,
                serviceId,
                localCaGuid,
                localQkey,
                localQpn,
                responderResources,
                initiatorDepth,
                remoteResponseTimeout,
                transportType,
                flowControl,
                startingPsn,
                localResponseTimeout,
                retryCount,
                pkey,
                pathMtu,
                rnrRetryCount,
                maxCmRetries,
                sharedReceiveQueue,
                primary,
                alternate,
                privateData);
    }

    public boolean hasAlternate() {
        return !alternate.equals(CmPath.NONE);
    }

    @Override
    public int attributeId() {
        return ATTRIBUTE;
    }

    @Override
    public void writeBody(MemorySegment body) {
        LOCAL_COMM_ID.put(body, localCommId);
        SERVICE_ID.put(body, serviceId);
        LOCAL_CA_GUID.put(body, localCaGuid);
        LOCAL_QKEY.put(body, localQkey);
        LOCAL_QPN.put(body, localQpn);
        RESPONDER_RESOURCES.put(body, responderResources);
        INITIATOR_DEPTH.put(body, initiatorDepth);
        REMOTE_RESPONSE_TIMEOUT.put(body, remoteResponseTimeout);
        TRANSPORT_TYPE.put(body, transportType);
        FLOW_CONTROL.put(body, flowControl);
        STARTING_PSN.put(body, startingPsn);
        LOCAL_RESPONSE_TIMEOUT.put(body, localResponseTimeout);
        RETRY_COUNT.put(body, retryCount);
        PKEY.put(body, pkey);
        PATH_MTU.put(body, pathMtu);
        RNR_RETRY_COUNT.put(body, rnrRetryCount);
        MAX_CM_RETRIES.put(body, maxCmRetries);
        SHARED_RECEIVE_QUEUE.put(body, sharedReceiveQueue);
        primary.write(body.asSlice(PRIMARY, CmPath.BYTES));
        alternate.write(body.asSlice(ALTERNATE, CmPath.BYTES));
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
