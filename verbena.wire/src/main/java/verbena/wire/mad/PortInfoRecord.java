package verbena.wire.mad;

/// A port (IBTA 15.2.5.3).
public final class PortInfoRecord {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x12;
    /// Size, in bytes.
    public static final int BYTES = 68;
    /// The offset of the [PortInfo].
    public static final int PORT_INFO = 4;

    /// The LID of the node's end port.
    public static final Field LID = Field.of(0, 16);
    public static final Field PORT_NUM = Field.of(2, 8);

    /// Bit of the component mask.
    public static final long CAPABILITY_MASK = 1 << 7;

    public static final Components COMPONENTS = new Components()
            .row(LID)
            .row(PORT_NUM)
            .row()
            .row(PortInfo.M_KEY.in(PORT_INFO))
            .row(PortInfo.GID_PREFIX.in(PORT_INFO))
            .row(PortInfo.LID.in(PORT_INFO))
            .row(PortInfo.MASTER_SM_LID.in(PORT_INFO))
            .row(PortInfo.CAPABILITY_MASK.in(PORT_INFO))
            .row(PortInfo.DIAG_CODE.in(PORT_INFO))
            .row(PortInfo.M_KEY_LEASE_PERIOD.in(PORT_INFO))
            .row(PortInfo.LOCAL_PORT_NUM.in(PORT_INFO))
            .row(PortInfo.LINK_WIDTH_ENABLED.in(PORT_INFO))
            .row(PortInfo.LINK_WIDTH_SUPPORTED.in(PORT_INFO))
            .row(PortInfo.LINK_WIDTH_ACTIVE.in(PORT_INFO))
            .row(PortInfo.LINK_SPEED_SUPPORTED.in(PORT_INFO))
            .row()
            .row(PortInfo.PORT_STATE.in(PORT_INFO))
            .row(PortInfo.PHYSICAL_STATE.in(PORT_INFO))
            .row(PortInfo.LINK_DOWN_DEFAULT_STATE.in(PORT_INFO))
            .row(PortInfo.M_KEY_PROTECT_BITS.in(PORT_INFO))
            .row(PortInfo.LMC.in(PORT_INFO))
            .row(PortInfo.LINK_SPEED_ACTIVE.in(PORT_INFO))
            .row(PortInfo.LINK_SPEED_ENABLED.in(PORT_INFO))
            .row(PortInfo.NEIGHBOR_MTU.in(PORT_INFO))
            .row(PortInfo.MASTER_SM_SL.in(PORT_INFO))
            .row(PortInfo.VL_CAP.in(PORT_INFO))
            .row(PortInfo.INIT_TYPE.in(PORT_INFO))
            .row(PortInfo.VL_HIGH_LIMIT.in(PORT_INFO))
            .row(PortInfo.VL_ARB_HIGH_CAP.in(PORT_INFO))
            .row(PortInfo.VL_ARB_LOW_CAP.in(PORT_INFO))
            .row(PortInfo.INIT_TYPE_REPLY.in(PORT_INFO))
            .row(PortInfo.MTU_CAP.in(PORT_INFO))
            .row(PortInfo.VL_STALL_COUNT.in(PORT_INFO))
            .row(PortInfo.HOQ_LIFE.in(PORT_INFO))
            .row(PortInfo.OPERATIONAL_VLS.in(PORT_INFO))
            .row(PortInfo.PARTITION_ENFORCEMENT_INBOUND.in(PORT_INFO))
            .row(PortInfo.PARTITION_ENFORCEMENT_OUTBOUND.in(PORT_INFO))
            .row(PortInfo.FILTER_RAW_INBOUND.in(PORT_INFO))
            .row(PortInfo.FILTER_RAW_OUTBOUND.in(PORT_INFO))
            .row(PortInfo.M_KEY_VIOLATIONS.in(PORT_INFO))
            .row(PortInfo.P_KEY_VIOLATIONS.in(PORT_INFO))
            .row(PortInfo.Q_KEY_VIOLATIONS.in(PORT_INFO))
            .row(PortInfo.GUID_CAP.in(PORT_INFO))
            .row(PortInfo.CLIENT_REREGISTER.in(PORT_INFO))
            .row()
            .row(PortInfo.SUBNET_TIMEOUT.in(PORT_INFO))
            .row()
            .row(PortInfo.RESP_TIME_VALUE.in(PORT_INFO))
            .row(PortInfo.LOCAL_PHY_ERRORS.in(PORT_INFO))
            .row(PortInfo.OVERRUN_ERRORS.in(PORT_INFO))
            .row(PortInfo.MAX_CREDIT_HINT.in(PORT_INFO))
            .row()
            .row(PortInfo.LINK_ROUND_TRIP_LATENCY.in(PORT_INFO))
            .row(PortInfo.CAPABILITY_MASK_2.in(PORT_INFO));

    private PortInfoRecord() {}
}
