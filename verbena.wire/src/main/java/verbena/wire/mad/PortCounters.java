package verbena.wire.mad;

import java.lang.foreign.MemorySegment;

/// The counters of a port (IBTA 16.1.3.5). Each has its place in [PortCounter].
public final class PortCounters {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x12;
    /// Size, in bytes.
    public static final int BYTES = 44;
    /// [#PORT_SELECT]: all ports together.
    public static final int ALL_PORTS = 255;

    public static final Field PORT_SELECT = Field.of(1, 8);
    /// The mask of the counters that a Set changes.
    public static final Field COUNTER_SELECT = Field.of(2, 16);
    /// The mask of the counters, among those added later, that a Set changes.
    public static final Field COUNTER_SELECT_2 = Field.of(18, 8);

    private static final int DATA = 64;
    private static final int DATA_BYTES = 192;

    private PortCounters() {}

    /// Returns the attribute of a datagram of performance management (IBTA 16.1.1).
    public static MemorySegment data(MemorySegment mad) {
        return mad.asSlice(DATA, DATA_BYTES);
    }
}
