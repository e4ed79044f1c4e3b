package verbena.wire.mad;

/// The limits and the forwarding of a switch (IBTA 14.2.5.4).
public final class SwitchInfo {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x12;
    /// Size, in bytes.
    public static final int BYTES = 20;

    /// Entries of the linear forwarding table.
    public static final Field LINEAR_FDB_CAP = Field.of(0, 16);
    public static final Field RANDOM_FDB_CAP = Field.of(2, 16);
    /// Entries of the multicast forwarding table.
    public static final Field MULTICAST_FDB_CAP = Field.of(4, 16);
    /// The highest LID that is forwarded.
    public static final Field LINEAR_FDB_TOP = Field.of(6, 16);
    public static final Field DEFAULT_PORT = Field.of(8, 8);
    public static final Field DEFAULT_MULTICAST_PRIMARY_PORT = Field.of(9, 8);
    public static final Field DEFAULT_MULTICAST_NOT_PRIMARY_PORT = Field.of(10, 8);
    /// The time that a packet may stay in the switch: 4.096 us times two to this; above 19, for ever.
    public static final Field LIFE_TIME_VALUE = Field.of(11, 5);
    /// The state of a port has changed. Writing 1 clears it.
    public static final Field PORT_STATE_CHANGE = new Field(11, 5, 1);
    public static final Field OPTIMIZED_SL_TO_VL = new Field(11, 6, 2);
    public static final Field LIDS_PER_PORT = Field.of(12, 16);
    /// Entries of the P_Key table of each external port.
    public static final Field PARTITION_ENFORCEMENT_CAP = Field.of(14, 16);
    public static final Field INBOUND_ENFORCEMENT_CAP = Field.of(16, 1);
    public static final Field OUTBOUND_ENFORCEMENT_CAP = new Field(16, 1, 1);
    public static final Field FILTER_RAW_INBOUND_CAP = new Field(16, 2, 1);
    public static final Field FILTER_RAW_OUTBOUND_CAP = new Field(16, 3, 1);
    public static final Field ENHANCED_PORT_0 = new Field(16, 4, 1);
    /// The highest multicast LID that is forwarded; 0: not given.
    public static final Field MULTICAST_FDB_TOP = Field.of(18, 16);

    private SwitchInfo() {}
}
