package verbena.wire.mad;

/// A path between two ports (IBTA 15.2.5.16).
public final class PathRecord {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x35;
    /// Size, in bytes.
    public static final int BYTES = 64;
    /// A selector: more than the value.
    public static final int GREATER = 0;
    /// A selector: less than the value.
    public static final int LESS = 1;
    /// A selector: the value.
    public static final int EXACTLY = 2;
    /// A selector: the best there is.
    public static final int BEST = 3;

    public static final Field SERVICE_ID = Field.of(0, 64);
    public static final Field DGID_HIGH = Field.of(8, 64);
    public static final Field DGID_LOW = Field.of(16, 64);
    public static final Field SGID_HIGH = Field.of(24, 64);
    public static final Field SGID_LOW = Field.of(32, 64);
    public static final Field DLID = Field.of(40, 16);
    public static final Field SLID = Field.of(42, 16);
    public static final Field RAW_TRAFFIC = Field.of(44, 1);
    public static final Field FLOW_LABEL = new Field(44, 4, 20);
    public static final Field HOP_LIMIT = Field.of(47, 8);
    public static final Field TRAFFIC_CLASS = Field.of(48, 8);
    public static final Field REVERSIBLE = Field.of(49, 1);
    /// Most paths that are wanted.
    public static final Field NUMB_PATH = new Field(49, 1, 7);
    public static final Field P_KEY = Field.of(50, 16);
    public static final Field QOS_CLASS = Field.of(52, 12);
    public static final Field SL = new Field(53, 4, 4);
    public static final Field MTU_SELECTOR = Field.of(54, 2);
    /// 1 for 256 bytes to 5 for 4096.
    public static final Field MTU = new Field(54, 2, 6);
    public static final Field RATE_SELECTOR = Field.of(55, 2);
    /// A rate, numbered like `enum ibv_rate`.
    public static final Field RATE = new Field(55, 2, 6);
    public static final Field PACKET_LIFE_SELECTOR = Field.of(56, 2);
    /// 4.096 us times two to this.
    public static final Field PACKET_LIFE = new Field(56, 2, 6);
    public static final Field PREFERENCE = Field.of(57, 8);

    /// Bit of the component mask.
    public static final long HAS_DGID = 1L << 2;
    /// Bit of the component mask.
    public static final long HAS_SGID = 1L << 3;
    /// Bit of the component mask.
    public static final long HAS_DLID = 1L << 4;
    /// Bit of the component mask.
    public static final long HAS_SLID = 1L << 5;
    /// Bit of the component mask.
    public static final long HAS_NUMB_PATH = 1L << 12;
    /// Bit of the component mask.
    public static final long HAS_P_KEY = 1L << 13;
    /// Bit of the component mask.
    public static final long HAS_SL = 1L << 15;
    /// Bit of the component mask.
    public static final long HAS_MTU_SELECTOR = 1L << 16;
    /// Bit of the component mask.
    public static final long HAS_MTU = 1L << 17;
    /// Bit of the component mask.
    public static final long HAS_RATE_SELECTOR = 1L << 18;
    /// Bit of the component mask.
    public static final long HAS_RATE = 1L << 19;

    private PathRecord() {}
}
