package verbena.wire.mad;

/// A port, for the subnet manager (IBTA 14.2.5.6). The attribute modifier is the port number; 0 at a channel
/// adapter is the port that the packet has arrived at.
public final class PortInfo {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x15;
    /// Size, in bytes.
    public static final int BYTES = 64;
    /// [#PORT_STATE]: no link.
    public static final int DOWN = 1;
    /// [#PORT_STATE]: the link is there, and only management passes.
    public static final int INIT = 2;
    /// [#PORT_STATE]: data pass inwards.
    public static final int ARMED = 3;
    /// [#PORT_STATE]: data pass.
    public static final int ACTIVE = 4;
    /// [#PHYSICAL_STATE]: sleep.
    public static final int PHYSICAL_SLEEP = 1;
    /// [#PHYSICAL_STATE]: looks for a peer.
    public static final int PHYSICAL_POLLING = 2;
    /// [#PHYSICAL_STATE]: switched off.
    public static final int PHYSICAL_DISABLED = 3;
    /// [#PHYSICAL_STATE]: the link is up.
    public static final int PHYSICAL_LINK_UP = 5;
    /// [#CAPABILITY_MASK]: a subnet manager is at this port.
    public static final int IS_SM = 1 << 1;
    /// [#CAPABILITY_MASK]: the port sends traps.
    public static final int IS_TRAP_SUPPORTED = 1 << 3;
    /// [#CAPABILITY_MASK]: service levels are mapped by table.
    public static final int IS_SL_MAPPING_SUPPORTED = 1 << 6;
    /// [#CAPABILITY_MASK]: the subnet manager at this port is switched off.
    public static final int IS_SM_DISABLED = 1 << 10;
    /// [#CAPABILITY_MASK]: speeds above QDR.
    public static final int IS_EXTENDED_SPEEDS = 1 << 14;
    /// [#CAPABILITY_MASK]: connections can be made.
    public static final int IS_CM_SUPPORTED = 1 << 16;
    /// [#CAPABILITY_MASK]: asks its clients to register again.
    public static final int IS_CLIENT_REREGISTRATION = 1 << 25;

    /// The key that packets for this port need; 0: none.
    public static final Field M_KEY = Field.of(0, 64);
    public static final Field GID_PREFIX = Field.of(8, 64);
    /// The first of its LIDs.
    public static final Field LID = Field.of(16, 16);
    public static final Field MASTER_SM_LID = Field.of(18, 16);
    public static final Field CAPABILITY_MASK = Field.of(20, 32);
    public static final Field DIAG_CODE = Field.of(24, 16);
    /// Seconds; 0: for ever.
    public static final Field M_KEY_LEASE_PERIOD = Field.of(26, 16);
    /// The port that the packet has arrived at.
    public static final Field LOCAL_PORT_NUM = Field.of(28, 8);
    /// A bit each: 1x, 4x, 8x, 12x, 2x; written as 255: all that are supported.
    public static final Field LINK_WIDTH_ENABLED = Field.of(29, 8);
    public static final Field LINK_WIDTH_SUPPORTED = Field.of(30, 8);
    public static final Field LINK_WIDTH_ACTIVE = Field.of(31, 8);
    /// A bit each: 2.5, 5, 10 Gb/s for each lane.
    public static final Field LINK_SPEED_SUPPORTED = Field.of(32, 4);
    public static final Field PORT_STATE = new Field(32, 4, 4);
    public static final Field PHYSICAL_STATE = Field.of(33, 4);
    public static final Field LINK_DOWN_DEFAULT_STATE = new Field(33, 4, 4);
    public static final Field M_KEY_PROTECT_BITS = Field.of(34, 2);
    /// The port has two to this many LIDs.
    public static final Field LMC = new Field(34, 5, 3);
    public static final Field LINK_SPEED_ACTIVE = Field.of(35, 4);
    public static final Field LINK_SPEED_ENABLED = new Field(35, 4, 4);
    /// 1 for 256 bytes to 5 for 4096.
    public static final Field NEIGHBOR_MTU = Field.of(36, 4);
    public static final Field MASTER_SM_SL = new Field(36, 4, 4);
    /// 1 for VL0, 2 to VL1, 3 to VL3, 4 to VL7, 5 to VL14.
    public static final Field VL_CAP = Field.of(37, 4);
    public static final Field INIT_TYPE = new Field(37, 4, 4);
    public static final Field VL_HIGH_LIMIT = Field.of(38, 8);
    /// Entries of the table of high priority.
    public static final Field VL_ARB_HIGH_CAP = Field.of(39, 8);
    /// Entries of the table of low priority.
    public static final Field VL_ARB_LOW_CAP = Field.of(40, 8);
    public static final Field INIT_TYPE_REPLY = Field.of(41, 4);
    /// The largest MTU of the port, in the code of the neighbor MTU.
    public static final Field MTU_CAP = new Field(41, 4, 4);
    public static final Field VL_STALL_COUNT = Field.of(42, 3);
    /// The time that a packet may be first in its queue: 4.096 us times two to this; above 19, for ever.
    public static final Field HOQ_LIFE = new Field(42, 3, 5);
    /// The lanes in use, in the code of the VL cap.
    public static final Field OPERATIONAL_VLS = Field.of(43, 4);
    public static final Field PARTITION_ENFORCEMENT_INBOUND = new Field(43, 4, 1);
    public static final Field PARTITION_ENFORCEMENT_OUTBOUND = new Field(43, 5, 1);
    public static final Field FILTER_RAW_INBOUND = new Field(43, 6, 1);
    public static final Field FILTER_RAW_OUTBOUND = new Field(43, 7, 1);
    public static final Field M_KEY_VIOLATIONS = Field.of(44, 16);
    public static final Field P_KEY_VIOLATIONS = Field.of(46, 16);
    public static final Field Q_KEY_VIOLATIONS = Field.of(48, 16);
    public static final Field GUID_CAP = Field.of(50, 8);
    public static final Field CLIENT_REREGISTER = Field.of(51, 1);
    public static final Field MULTICAST_PKEY_TRAP_SUPPRESSION = new Field(51, 1, 2);
    /// The time between two traps: at least 4.096 us times two to this.
    public static final Field SUBNET_TIMEOUT = new Field(51, 3, 5);
    /// Answers take at most 4.096 us times two to this.
    public static final Field RESP_TIME_VALUE = new Field(52, 3, 5);
    public static final Field LOCAL_PHY_ERRORS = Field.of(53, 4);
    public static final Field OVERRUN_ERRORS = new Field(53, 4, 4);
    public static final Field MAX_CREDIT_HINT = Field.of(54, 16);
    public static final Field LINK_ROUND_TRIP_LATENCY = Field.of(57, 24);
    public static final Field CAPABILITY_MASK_2 = Field.of(60, 16);
    /// A bit each: 14.0625, 25.78125, 53.125 Gb/s for each lane.
    public static final Field LINK_SPEED_EXT_ACTIVE = Field.of(62, 4);
    public static final Field LINK_SPEED_EXT_SUPPORTED = new Field(62, 4, 4);
    public static final Field LINK_SPEED_EXT_ENABLED = new Field(63, 3, 5);

    private PortInfo() {}

    /// Returns the name of a [#PORT_STATE].
    public static String stateName(int state) {
        return switch (state) {
            case INIT -> "INIT";
            case ARMED -> "ARMED";
            case ACTIVE -> "ACTIVE";
            default -> "DOWN";
        };
    }
}
