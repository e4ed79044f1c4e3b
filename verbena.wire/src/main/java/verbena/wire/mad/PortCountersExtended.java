package verbena.wire.mad;

/// The counters of a port in 64 bits (IBTA 16.1.4.11). Each has its place in [PortCounter].
public final class PortCountersExtended {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x1D;
    /// Size, in bytes.
    public static final int BYTES = 72;

    public static final Field PORT_SELECT = Field.of(1, 8);
    /// The mask of the counters that a Set changes.
    public static final Field COUNTER_SELECT = Field.of(2, 16);

    private PortCountersExtended() {}
}
