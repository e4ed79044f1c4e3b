package verbena.subnet.node;

import verbena.wire.mad.NodeInfo;

/// The properties of a [Node], which never change.
///
/// @param type [NodeInfo#CHANNEL_ADAPTER] or [NodeInfo#SWITCH]
/// @param guid of the node; port p of a channel adapter has this plus p, port 0 of a switch this
/// @param description name for people
/// @param ports external ports, 1 to 254
/// @param mtuCap 1 for 256 bytes to 5 for 4096
/// @param vlCap 1 for VL0, 2 to VL1, 3 to VL3, 4 to VL7, 5 to VL14
/// @param widths bits of [verbena.wire.mad.PortInfo#LINK_WIDTH_SUPPORTED]
/// @param speeds bits of [verbena.wire.mad.PortInfo#LINK_SPEED_SUPPORTED]
/// @param extendedSpeeds bits of [verbena.wire.mad.PortInfo#LINK_SPEED_EXT_SUPPORTED]
public record NodeSpec(
        int type,
        long guid,
        String description,
        int ports,
        int mtuCap,
        int vlCap,
        int widths,
        int speeds,
        int extendedSpeeds) {
    /// Most external ports.
    public static final int PORTS_MAX = 254;

    public NodeSpec {
        check("type", type, NodeInfo.CHANNEL_ADAPTER, NodeInfo.SWITCH);
        check("ports", ports, 1, PORTS_MAX);
        check("mtuCap", mtuCap, 1, 5);
        check("vlCap", vlCap, 1, 5);
        check("widths", widths, 1, 0x1F);
        check("speeds", speeds, 1, 7);
        check("extendedSpeeds", extendedSpeeds, 0, 7);
    }

    /// Returns a channel adapter with MTU 4096, eight virtual lanes, 4x and 25 Gb/s for each lane.
    public static NodeSpec channelAdapter(long guid, String description, int ports) {
        return new NodeSpec(NodeInfo.CHANNEL_ADAPTER, guid, description, ports, 5, 4, 3, 7, 3);
    }

    /// Returns a switch with the same properties.
    public static NodeSpec switching(long guid, String description, int ports) {
        return new NodeSpec(NodeInfo.SWITCH, guid, description, ports, 5, 4, 3, 7, 3);
    }

    public boolean isSwitch() {
        return type == NodeInfo.SWITCH;
    }

    private static void check(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + ": " + least + " to " + most + ", got " + value);
        }
    }
}
