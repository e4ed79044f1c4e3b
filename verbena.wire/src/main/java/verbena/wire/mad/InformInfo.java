package verbena.wire.mad;

/// A request to the subnet administration for notices (IBTA 13.4.8.3).
public final class InformInfo {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x03;
    /// Size, in bytes.
    public static final int BYTES = 36;
    /// [#TYPE], and all others of 16 bits: any.
    public static final int ANY = 0xFFFF;
    /// [#PRODUCER_TYPE]: any.
    public static final int ANY_PRODUCER = 0xFF_FFFF;

    /// Notices that this GID issues; 0: by the range of LIDs.
    public static final Field GID_HIGH = Field.of(0, 64);
    public static final Field GID_LOW = Field.of(8, 64);
    /// 0xFFFF: any.
    public static final Field LID_BEGIN = Field.of(16, 16);
    public static final Field LID_END = Field.of(18, 16);
    public static final Field IS_GENERIC = Field.of(22, 8);
    /// 1 to begin, 0 to end.
    public static final Field SUBSCRIBE = Field.of(23, 8);
    public static final Field TYPE = Field.of(24, 16);
    public static final Field TRAP_NUMBER = Field.of(26, 16);
    /// The queue pair that gets the reports; 0 means 1.
    public static final Field QPN = Field.of(28, 24);
    public static final Field RESP_TIME_VALUE = new Field(31, 3, 5);
    public static final Field PRODUCER_TYPE = Field.of(33, 24);

    private InformInfo() {}
}
