package verbena.wire.mad;

/// A service, and where it is (IBTA 15.2.5.14).
public final class ServiceRecord {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x31;
    /// Size, in bytes.
    public static final int BYTES = 176;
    /// [#LEASE]: for ever.
    public static final int FOR_EVER = -1;
    /// The offset of the service's name.
    public static final int NAME = 48;
    /// Most bytes of the name.
    public static final int NAME_BYTES = 64;

    public static final Field SERVICE_ID = Field.of(0, 64);
    public static final Field GID_HIGH = Field.of(8, 64);
    public static final Field GID_LOW = Field.of(16, 64);
    public static final Field P_KEY = Field.of(24, 16);
    /// Seconds.
    public static final Field LEASE = Field.of(28, 32);

    /// The components that identify a registration: ID, GID and P_Key.
    public static final long IDENTITY = 0b111;

    public static final Components COMPONENTS = components();

    private ServiceRecord() {}

    private static Components components() {
        var all = new Components()
                .row(SERVICE_ID)
                .row(Field.wide(8, 16))
                .row(P_KEY)
                .row()
                .row(LEASE)
                .row(Field.wide(32, 16)) // key
                .row(Field.wide(NAME, NAME_BYTES));
        int octet = NAME + NAME_BYTES;
        for (int bits = 8; bits <= 64; bits *= 2) {
            for (int i = 0; i < 128 / bits; i++, octet += bits / 8) {
                all.row(Field.of(octet, bits));
            }
        }
        return all;
    }
}
