package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A message that accepts a connection (IBTA 12.6.8).
///
/// @param localQkey as in [Req#localQkey]
/// @param startingPsn first PSN that the receiver is to send
/// @param responderResources READs and atomics that the sender can serve at once
/// @param initiatorDepth READs and atomics that it means to have outstanding
/// @param targetAckDelay 5-bit code of how long its device takes to acknowledge
/// @param failover [#FAILOVER_ACCEPTED] when the sender takes the REQ's alternate path, or there is none
/// @param flowControl whether credits are used
/// @param rnrRetryCount for the receiver's queue pair
public record Rep(
        long transactionId,
        int localCommId,
        int remoteCommId,
        int localQkey,
        int localQpn,
        int startingPsn,
        int responderResources,
        int initiatorDepth,
        int targetAckDelay,
        int failover,
        boolean flowControl,
        int rnrRetryCount,
        boolean sharedReceiveQueue,
        long localCaGuid,
        PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x13;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 196;

    /// The alternate path of the REQ is taken.
    public static final int FAILOVER_ACCEPTED = 0;
    /// The sender's device cannot migrate.
    public static final int FAILOVER_NOT_SUPPORTED = 1;
    /// This alternate path is not taken.
    public static final int FAILOVER_REJECTED = 2;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field REMOTE_COMM_ID = Field.of(4, 32);
    private static final Field LOCAL_QKEY = Field.of(8, 32);
    private static final Field LOCAL_QPN = Field.of(12, 24);
    private static final Field STARTING_PSN = Field.of(20, 24);
    private static final Field RESPONDER_RESOURCES = Field.of(24, 8);
    private static final Field INITIATOR_DEPTH = Field.of(25, 8);
    private static final Field TARGET_ACK_DELAY = Field.of(26, 5);
    private static final Field FAILOVER = new Field(26, 5, 2);
    private static final Field FLOW_CONTROL = new Field(26, 7, 1);
    private static final Field RNR_RETRY_COUNT = Field.of(27, 3);
    private static final Field SHARED_RECEIVE_QUEUE = new Field(27, 3, 1);
    private static final Field LOCAL_CA_GUID = Field.of(28, 64);
    private static final int PRIVATE_DATA = 36;

    static Rep read(long transactionId, MemorySegment body) {
        return new Rep(
                transactionId,
                LOCAL_COMM_ID.getInt(body),
                REMOTE_COMM_ID.getInt(body),
                LOCAL_QKEY.getInt(body),
                LOCAL_QPN.getInt(body),
                STARTING_PSN.getInt(body),
                RESPONDER_RESOURCES.getInt(body),
                INITIATOR_DEPTH.getInt(body),
                TARGET_ACK_DELAY.getInt(body),
                FAILOVER.getInt(body),
                FLOW_CONTROL.getBoolean(body),
                RNR_RETRY_COUNT.getInt(body),
                SHARED_RECEIVE_QUEUE.getBoolean(body),
                LOCAL_CA_GUID.get(body),
                PrivateData.read(body, PRIVATE_DATA, PRIVATE_DATA_BYTES));
    }

    /// Returns the same message with another answer about the alternate path.
    public Rep withFailover(int failover) {
        return new Rep(
                transactionId,
                localCommId,
                remoteCommId,
                localQkey,
                localQpn,
                startingPsn,
                responderResources,
                initiatorDepth,
                targetAckDelay,
                failover,
                flowControl,
                rnrRetryCount,
                sharedReceiveQueue,
                localCaGuid,
                privateData);
    }

    /// Returns the same message with other private data.
    public Rep withPrivateData(PrivateData privateData) {
        return new Rep(
                transactionId,
                localCommId,
                remoteCommId,
                localQkey,
                localQpn,
                startingPsn,
                responderResources,
                initiatorDepth,
                targetAckDelay,
                failover,
                flowControl,
                rnrRetryCount,
                sharedReceiveQueue,
                localCaGuid,
                privateData);
    }

    @Override
    public int attributeId() {
        return ATTRIBUTE;
    }

    @Override
    public void writeBody(MemorySegment body) {
        LOCAL_COMM_ID.put(body, localCommId);
        REMOTE_COMM_ID.put(body, remoteCommId);
        LOCAL_QKEY.put(body, localQkey);
        LOCAL_QPN.put(body, localQpn);
        STARTING_PSN.put(body, startingPsn);
        RESPONDER_RESOURCES.put(body, responderResources);
        INITIATOR_DEPTH.put(body, initiatorDepth);
        TARGET_ACK_DELAY.put(body, targetAckDelay);
        FAILOVER.put(body, failover);
        FLOW_CONTROL.put(body, flowControl);
        RNR_RETRY_COUNT.put(body, rnrRetryCount);
        SHARED_RECEIVE_QUEUE.put(body, sharedReceiveQueue);
        LOCAL_CA_GUID.put(body, localCaGuid);
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
