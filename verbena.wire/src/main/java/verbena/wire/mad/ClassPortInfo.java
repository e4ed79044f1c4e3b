package verbena.wire.mad;

/// The capabilities and the address of an agent of a management class (IBTA 13.4.8.1).
public final class ClassPortInfo {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x01;
    /// Size, in bytes.
    public static final int BYTES = 72;
    /// [#CAPABILITY_MASK] of performance management: port 255 is all ports.
    public static final int ALL_PORT_SELECT = 0x100;
    /// [#CAPABILITY_MASK] of performance management: counters of 64 bits.
    public static final int EXTENDED_WIDTH = 0x200;
    /// [#CAPABILITY_MASK] of performance management: PortXmitWait of [PortCounters].
    public static final int XMIT_WAIT = 0x1000;
    /// [#CAPABILITY_MASK_2] of subnet administration: [McMemberRecord#SEND_ONLY_FULL_MEMBER].
    public static final int SEND_ONLY_FULL_MEMBER = 0x8;

    public static final Field BASE_VERSION = Field.of(0, 8);
    public static final Field CLASS_VERSION = Field.of(1, 8);
    public static final Field CAPABILITY_MASK = Field.of(2, 16);
    public static final Field CAPABILITY_MASK_2 = Field.of(4, 27);
    /// Answers take at most 4.096 us times two to this.
    public static final Field RESP_TIME_VALUE = new Field(7, 3, 5);
    public static final Field REDIRECT_GID_HIGH = Field.of(8, 64);
    public static final Field REDIRECT_GID_LOW = Field.of(16, 64);
    public static final Field REDIRECT_LID = Field.of(28, 16);
    public static final Field REDIRECT_P_KEY = Field.of(30, 16);
    public static final Field REDIRECT_QPN = Field.of(33, 24);
    public static final Field REDIRECT_Q_KEY = Field.of(36, 32);
    public static final Field TRAP_GID_HIGH = Field.of(40, 64);
    public static final Field TRAP_GID_LOW = Field.of(48, 64);
    public static final Field TRAP_LID = Field.of(60, 16);
    public static final Field TRAP_P_KEY = Field.of(62, 16);
    public static final Field TRAP_QPN = Field.of(65, 24);
    public static final Field TRAP_Q_KEY = Field.of(68, 32);

    private ClassPortInfo() {}
}
