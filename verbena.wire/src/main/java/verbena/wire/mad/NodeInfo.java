package verbena.wire.mad;

/// The identity of a node (IBTA 14.2.5.3). No part of it changes.
public final class NodeInfo {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x11;
    /// Size, in bytes.
    public static final int BYTES = 40;
    /// [#NODE_TYPE] of a channel adapter.
    public static final int CHANNEL_ADAPTER = 1;
    /// [#NODE_TYPE] of a switch.
    public static final int SWITCH = 2;
    /// [#NODE_TYPE] of a router.
    public static final int ROUTER = 3;

    public static final Field BASE_VERSION = Field.of(0, 8);
    public static final Field CLASS_VERSION = Field.of(1, 8);
    public static final Field NODE_TYPE = Field.of(2, 8);
    /// Physical ports, without port 0 of a switch.
    public static final Field NUM_PORTS = Field.of(3, 8);
    public static final Field SYSTEM_IMAGE_GUID = Field.of(4, 64);
    public static final Field NODE_GUID = Field.of(12, 64);
    /// The GUID of the port at which the packet has arrived; at a switch, of its port 0.
    public static final Field PORT_GUID = Field.of(20, 64);
    /// Entries of a port's P_Key table.
    public static final Field PARTITION_CAP = Field.of(28, 16);
    public static final Field DEVICE_ID = Field.of(30, 16);
    public static final Field REVISION = Field.of(32, 32);
    /// The port that the packet has arrived at.
    public static final Field LOCAL_PORT_NUM = Field.of(36, 8);
    public static final Field VENDOR_ID = Field.of(37, 24);

    private NodeInfo() {}
}
