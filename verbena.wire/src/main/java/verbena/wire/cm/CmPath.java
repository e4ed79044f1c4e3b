package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.Field;

/// A path as a [Req] or a [Lap] names it: from the sender of the message ("local") to its receiver ("remote").
///
/// @param localLid 0xFFFF on RoCE
/// @param flowLabel 20 bits
/// @param packetRate 6 bits, `enum ibv_rate`
/// @param subnetLocal whether it does not leave the subnet
/// @param ackTimeout 5-bit code of the ACK timeout that both queue pairs are to use
public record CmPath(
        int localLid,
        int remoteLid,
        long localGidHigh,
        long localGidLow,
        long remoteGidHigh,
        long remoteGidLow,
        int flowLabel,
        int packetRate,
        int trafficClass,
        int hopLimit,
        int serviceLevel,
        boolean subnetLocal,
        int ackTimeout) {
    /// No path.
    public static final CmPath NONE = new CmPath(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, 0);

    static final int BYTES = 44;

    private static final Field LOCAL_LID = Field.of(0, 16);
    private static final Field REMOTE_LID = Field.of(2, 16);
    private static final Field LOCAL_GID_HIGH = Field.of(4, 64);
    private static final Field LOCAL_GID_LOW = Field.of(12, 64);
    private static final Field REMOTE_GID_HIGH = Field.of(20, 64);
    private static final Field REMOTE_GID_LOW = Field.of(28, 64);
    private static final Field FLOW_LABEL = Field.of(36, 20);
    private static final Field PACKET_RATE = new Field(39, 2, 6);
    private static final Field TRAFFIC_CLASS = Field.of(40, 8);
    private static final Field HOP_LIMIT = Field.of(41, 8);
    private static final Field SERVICE_LEVEL = Field.of(42, 4);
    private static final Field SUBNET_LOCAL = new Field(42, 4, 1);
    private static final Field ACK_TIMEOUT = Field.of(43, 5);

    static CmPath read(MemorySegment path) {
        return new CmPath(
                LOCAL_LID.getInt(path),
                REMOTE_LID.getInt(path),
                LOCAL_GID_HIGH.get(path),
                LOCAL_GID_LOW.get(path),
                REMOTE_GID_HIGH.get(path),
                REMOTE_GID_LOW.get(path),
                FLOW_LABEL.getInt(path),
                PACKET_RATE.getInt(path),
                TRAFFIC_CLASS.getInt(path),
                HOP_LIMIT.getInt(path),
                SERVICE_LEVEL.getInt(path),
                SUBNET_LOCAL.getBoolean(path),
                ACK_TIMEOUT.getInt(path));
    }

    void write(MemorySegment path) {
        LOCAL_LID.put(path, localLid);
        REMOTE_LID.put(path, remoteLid);
        LOCAL_GID_HIGH.put(path, localGidHigh);
        LOCAL_GID_LOW.put(path, localGidLow);
        REMOTE_GID_HIGH.put(path, remoteGidHigh);
        REMOTE_GID_LOW.put(path, remoteGidLow);
        FLOW_LABEL.put(path, flowLabel);
        PACKET_RATE.put(path, packetRate);
        TRAFFIC_CLASS.put(path, trafficClass);
        HOP_LIMIT.put(path, hopLimit);
        SERVICE_LEVEL.put(path, serviceLevel);
        SUBNET_LOCAL.put(path, subnetLocal);
        ACK_TIMEOUT.put(path, ackTimeout);
    }
}
