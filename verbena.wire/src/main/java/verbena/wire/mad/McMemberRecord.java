package verbena.wire.mad;

/// A multicast group and a member of it (IBTA 15.2.5.17).
public final class McMemberRecord {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x38;
    /// Size, in bytes.
    public static final int BYTES = 52;
    /// [#JOIN_STATE]: sends and receives.
    public static final int FULL_MEMBER = 1;
    /// [#JOIN_STATE]: receives, and does not keep the group alive.
    public static final int NON_MEMBER = 2;
    /// [#JOIN_STATE]: sends.
    public static final int SEND_ONLY = 4;
    /// [#JOIN_STATE]: sends, and keeps the group alive.
    public static final int SEND_ONLY_FULL_MEMBER = 8;

    public static final Field MGID_HIGH = Field.of(0, 64);
    public static final Field MGID_LOW = Field.of(8, 64);
    public static final Field PORT_GID_HIGH = Field.of(16, 64);
    public static final Field PORT_GID_LOW = Field.of(24, 64);
    public static final Field Q_KEY = Field.of(32, 32);
    public static final Field MLID = Field.of(36, 16);
    public static final Field MTU_SELECTOR = Field.of(38, 2);
    public static final Field MTU = new Field(38, 2, 6);
    public static final Field TRAFFIC_CLASS = Field.of(39, 8);
    public static final Field P_KEY = Field.of(40, 16);
    public static final Field RATE_SELECTOR = Field.of(42, 2);
    public static final Field RATE = new Field(42, 2, 6);
    public static final Field PACKET_LIFE_SELECTOR = Field.of(43, 2);
    public static final Field PACKET_LIFE = new Field(43, 2, 6);
    public static final Field SL = Field.of(44, 4);
    public static final Field FLOW_LABEL = new Field(44, 4, 20);
    public static final Field HOP_LIMIT = Field.of(47, 8);
    public static final Field SCOPE = Field.of(48, 4);
    public static final Field JOIN_STATE = new Field(48, 4, 4);
    public static final Field PROXY_JOIN = Field.of(49, 1);

    /// Bit of the component mask.
    public static final long HAS_MGID = 1L;
    /// Bit of the component mask.
    public static final long HAS_PORT_GID = 1L << 1;
    /// Bit of the component mask.
    public static final long HAS_Q_KEY = 1L << 2;
    /// Bit of the component mask.
    public static final long HAS_MTU_SELECTOR = 1L << 4;
    /// Bit of the component mask.
    public static final long HAS_MTU = 1L << 5;
    /// Bit of the component mask.
    public static final long HAS_TRAFFIC_CLASS = 1L << 6;
    /// Bit of the component mask.
    public static final long HAS_P_KEY = 1L << 7;
    /// Bit of the component mask.
    public static final long HAS_SL = 1L << 12;
    /// Bit of the component mask.
    public static final long HAS_FLOW_LABEL = 1L << 13;
    /// Bit of the component mask.
    public static final long HAS_JOIN_STATE = 1L << 16;

    public static final Components COMPONENTS = new Components()
            .row(Field.wide(0, 16))
            .row(Field.wide(16, 16))
            .row(Q_KEY)
            .row(MLID)
            .row(MTU_SELECTOR)
            .row(MTU)
            .row(TRAFFIC_CLASS)
            .row(P_KEY)
            .row(RATE_SELECTOR)
            .row(RATE)
            .row(PACKET_LIFE_SELECTOR)
            .row(PACKET_LIFE)
            .row(SL)
            .row(FLOW_LABEL)
            .row(HOP_LIMIT)
            .row(SCOPE)
            .row(JOIN_STATE)
            .row(PROXY_JOIN);

    private McMemberRecord() {}
}
