package verbena.wire.mad;

/// A subnet manager, for its colleagues (IBTA 14.2.5.13). The attribute modifier of a Set is what it asks for.
public final class SmInfo {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x20;
    /// Size, in bytes.
    public static final int BYTES = 21;
    /// [#STATE].
    public static final int NOT_ACTIVE = 0;
    /// [#STATE].
    public static final int DISCOVERING = 1;
    /// [#STATE].
    public static final int STANDBY = 2;
    /// [#STATE].
    public static final int MASTER = 3;
    /// Modifier of a Set: be the master from now on.
    public static final int SET_HANDOVER = 1;
    /// Modifier of a Set: I am the master now.
    public static final int SET_ACKNOWLEDGE = 2;
    /// Modifier of a Set: leave the subnet alone.
    public static final int SET_DISABLE = 3;
    /// Modifier of a Set: wait as a standby.
    public static final int SET_STANDBY = 4;
    /// Modifier of a Set: begin anew.
    public static final int SET_DISCOVER = 5;

    /// The GUID of the manager's port.
    public static final Field GUID = Field.of(0, 64);
    public static final Field SM_KEY = Field.of(8, 64);
    /// A number that changes while the manager is at work.
    public static final Field ACT_COUNT = Field.of(16, 32);
    /// The higher, the better.
    public static final Field PRIORITY = Field.of(20, 4);
    public static final Field STATE = new Field(20, 4, 4);

    private SmInfo() {}
}
