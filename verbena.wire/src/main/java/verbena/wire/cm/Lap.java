package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A request to the peer of an established connection to load another alternate path (IBTA 12.8.1).
///
/// @param remoteQpn number of the receiver's queue pair
/// @param remoteResponseTimeout 5-bit code of how long the receiver may take to answer
/// @param alternate the path, from the sender of this message to its receiver
public record Lap(
        long transactionId,
        int localCommId,
        int remoteCommId,
        int remoteQpn,
        int remoteResponseTimeout,
        CmPath alternate,
        PrivateData privateData)
        implements CmMessage {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x19;
    /// Bytes of private data that it has room for.
    public static final int PRIVATE_DATA_BYTES = 168;

    private static final Field LOCAL_COMM_ID = Field.of(0, 32);
    private static final Field REMOTE_COMM_ID = Field.of(4, 32);
    private static final Field REMOTE_QPN = Field.of(12, 24);
    private static final Field REMOTE_RESPONSE_TIMEOUT = Field.of(15, 5);
    private static final Field LOCAL_LID = Field.of(20, 16);
    private static final Field REMOTE_LID = Field.of(22, 16);
    private static final Field LOCAL_GID_HIGH = Field.of(24, 64);
    private static final Field LOCAL_GID_LOW = Field.of(32, 64);
    private static final Field REMOTE_GID_HIGH = Field.of(40, 64);
    private static final Field REMOTE_GID_LOW = Field.of(48, 64);
    private static final Field FLOW_LABEL = Field.of(56, 20);
    private static final Field TRAFFIC_CLASS = Field.of(59, 8);
    private static final Field HOP_LIMIT = Field.of(60, 8);
    private static final Field PACKET_RATE = new Field(61, 2, 6);
    private static final Field SERVICE_LEVEL = Field.of(62, 4);
    private static final Field SUBNET_LOCAL = new Field(62, 4, 1);
    private static final Field ACK_TIMEOUT = Field.of(63, 5);
    private static final int PRIVATE_DATA = 64;

    static Lap read(long transactionId, MemorySegment body) {
        return new Lap(
                transactionId,
                LOCAL_COMM_ID.getInt(body),
                REMOTE_COMM_ID.getInt(body),
                REMOTE_QPN.getInt(body),
                REMOTE_RESPONSE_TIMEOUT.getInt(body),
                new CmPath(
                        LOCAL_LID.getInt(body),
                        REMOTE_LID.getInt(body),
                        LOCAL_GID_HIGH.get(body),
                        LOCAL_GID_LOW.get(body),
                        REMOTE_GID_HIGH.get(body),
                        REMOTE_GID_LOW.get(body),
                        FLOW_LABEL.getInt(body),
                        PACKET_RATE.getInt(body),
                        TRAFFIC_CLASS.getInt(body),
                        HOP_LIMIT.getInt(body),
                        SERVICE_LEVEL.getInt(body),
                        SUBNET_LOCAL.getBoolean(body),
                        ACK_TIMEOUT.getInt(body)),
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
        REMOTE_RESPONSE_TIMEOUT.put(body, remoteResponseTimeout);
        LOCAL_LID.put(body, alternate.localLid());
        REMOTE_LID.put(body, alternate.remoteLid());
        LOCAL_GID_HIGH.put(body, alternate.localGidHigh());
        LOCAL_GID_LOW.put(body, alternate.localGidLow());
        REMOTE_GID_HIGH.put(body, alternate.remoteGidHigh());
        REMOTE_GID_LOW.put(body, alternate.remoteGidLow());
        FLOW_LABEL.put(body, alternate.flowLabel());
        PACKET_RATE.put(body, alternate.packetRate());
        TRAFFIC_CLASS.put(body, alternate.trafficClass());
        HOP_LIMIT.put(body, alternate.hopLimit());
        SERVICE_LEVEL.put(body, alternate.serviceLevel());
        SUBNET_LOCAL.put(body, alternate.subnetLocal());
        ACK_TIMEOUT.put(body, alternate.ackTimeout());
        privateData.write(body, PRIVATE_DATA, PRIVATE_DATA_BYTES);
    }
}
