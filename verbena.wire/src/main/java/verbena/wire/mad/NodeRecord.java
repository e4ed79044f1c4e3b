package verbena.wire.mad;

/// A port's node (IBTA 15.2.5.2).
public final class NodeRecord {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x11;
    /// Size, in bytes.
    public static final int BYTES = 108;
    /// The offset of the [NodeInfo].
    public static final int NODE_INFO = 4;
    /// The offset of the [NodeDescription].
    public static final int NODE_DESCRIPTION = 44;

    public static final Field LID = Field.of(0, 16);

    public static final Components COMPONENTS = new Components()
            .row(LID)
            .row()
            .row(NodeInfo.BASE_VERSION.in(NODE_INFO))
            .row(NodeInfo.CLASS_VERSION.in(NODE_INFO))
            .row(NodeInfo.NODE_TYPE.in(NODE_INFO))
            .row(NodeInfo.NUM_PORTS.in(NODE_INFO))
            .row(NodeInfo.SYSTEM_IMAGE_GUID.in(NODE_INFO))
            .row(NodeInfo.NODE_GUID.in(NODE_INFO))
            .row(NodeInfo.PORT_GUID.in(NODE_INFO))
            .row(NodeInfo.PARTITION_CAP.in(NODE_INFO))
            .row(NodeInfo.DEVICE_ID.in(NODE_INFO))
            .row(NodeInfo.REVISION.in(NODE_INFO))
            .row(NodeInfo.LOCAL_PORT_NUM.in(NODE_INFO))
            .row(NodeInfo.VENDOR_ID.in(NODE_INFO))
            .row(Field.wide(NODE_DESCRIPTION, NodeDescription.BYTES));

    private NodeRecord() {}
}
