package verbena.wire.mad;

/// The event of a trap or a report (IBTA 13.4.8.2, 14.2.5.1). In a trap of subnet management the issuer GID does not
/// fit, and is left out.
public final class Notice {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x02;
    /// Size, in bytes, with the issuer GID.
    public static final int BYTES = 80;
    /// [#TYPE].
    public static final int FATAL = 0;
    /// [#TYPE].
    public static final int URGENT = 1;
    /// [#TYPE].
    public static final int SECURITY = 2;
    /// [#TYPE].
    public static final int SUBNET_MANAGEMENT = 3;
    /// [#TYPE].
    public static final int INFORMATIONAL = 4;
    /// [#PRODUCER_TYPE].
    public static final int PRODUCER_CHANNEL_ADAPTER = 1;
    /// [#PRODUCER_TYPE].
    public static final int PRODUCER_SWITCH = 2;
    /// [#PRODUCER_TYPE]: the subnet manager.
    public static final int PRODUCER_CLASS_MANAGER = 4;
    /// Trap: a GID is in service.
    public static final int GID_IN_SERVICE = 64;
    /// Trap: a GID is out of service.
    public static final int GID_OUT_OF_SERVICE = 65;
    /// Trap: a multicast group was created.
    public static final int GROUP_CREATED = 66;
    /// Trap: a multicast group was deleted.
    public static final int GROUP_DELETED = 67;
    /// Trap: the state of a link of a switch has changed.
    public static final int LINK_STATE_CHANGE = 128;
    /// Trap: capability mask or node description have changed.
    public static final int CAPABILITY_CHANGE = 144;
    /// Trap: a packet with a wrong M_Key.
    public static final int BAD_M_KEY = 256;
    /// Trap: a packet with a wrong P_Key.
    public static final int BAD_P_KEY = 257;
    /// Trap: a packet with a wrong Q_Key.
    public static final int BAD_Q_KEY = 258;
    /// Trap: a packet with a wrong P_Key, at a switch.
    public static final int BAD_P_KEY_AT_SWITCH = 259;

    /// [#DATA_VALID]: LIDs, P_Key, service level, and the queue pair that the packet is for.
    public static final int ALL_BUT_THE_SENDER = 0x2F;

    public static final Field IS_GENERIC = Field.of(0, 1);
    public static final Field TYPE = new Field(0, 1, 7);
    public static final Field PRODUCER_TYPE = Field.of(1, 24);
    public static final Field TRAP_NUMBER = Field.of(4, 16);
    public static final Field ISSUER_LID = Field.of(6, 16);
    public static final Field NOTICE_TOGGLE = Field.of(8, 1);
    public static final Field NOTICE_COUNT = new Field(8, 1, 15);
    /// 64 to 67: which GID.
    public static final Field GID_HIGH = Field.of(16, 64);
    /// The other half.
    public static final Field GID_LOW = Field.of(24, 64);
    /// 128: which switch.
    public static final Field SWITCH_LID = Field.of(10, 16);
    /// 144 and 256: which port.
    public static final Field SUBJECT_LID = Field.of(12, 16);
    /// 144.
    public static final Field NEW_CAPABILITY_MASK = Field.of(16, 32);
    /// 256.
    public static final Field M_KEY_DIRECTED_SLID = Field.of(14, 16);
    /// 256.
    public static final Field M_KEY_METHOD = Field.of(16, 8);
    /// 256.
    public static final Field M_KEY_ATTRIBUTE = Field.of(18, 16);
    /// 256.
    public static final Field M_KEY_MODIFIER = Field.of(20, 32);
    /// 256: the wrong one.
    public static final Field M_KEY = Field.of(24, 64);
    /// 257 and 258: who has sent the packet.
    public static final Field FIRST_LID = Field.of(12, 16);
    /// 257 and 258: whom it was for.
    public static final Field SECOND_LID = Field.of(14, 16);
    /// 257 and 258: the wrong one.
    public static final Field KEY = Field.of(16, 32);
    /// 257 and 258.
    public static final Field SERVICE_LEVEL = Field.of(20, 4);
    /// 257 and 258.
    public static final Field FIRST_QPN = Field.of(21, 24);
    /// 257 and 258.
    public static final Field SECOND_QPN = Field.of(25, 24);
    /// 259: which of the fields are valid; the lowest bits are LIDs, P_Key, service level and queue pairs.
    public static final Field DATA_VALID = Field.of(10, 16);
    /// 259: the wrong one. LIDs are as of 257.
    public static final Field P_KEY = Field.of(16, 16);
    /// 259.
    public static final Field P_KEY_SERVICE_LEVEL = Field.of(18, 4);
    /// 259.
    public static final Field P_KEY_FIRST_QPN = Field.of(19, 24);
    /// 259.
    public static final Field P_KEY_SECOND_QPN = Field.of(23, 24);
    /// 259: the switch.
    public static final Field P_KEY_SWITCH_LID = Field.of(58, 16);
    /// 259: by which the packet came, or would have left.
    public static final Field P_KEY_PORT = Field.of(60, 8);
    public static final Field ISSUER_GID_HIGH = Field.of(64, 64);
    public static final Field ISSUER_GID_LOW = Field.of(72, 64);

    private Notice() {}
}
