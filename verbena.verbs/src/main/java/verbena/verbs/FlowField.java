package verbena.verbs;

/// A field of a frame that a [FlowRule] compares (the `ibv_flow_spec_*` of ibv_create_flow(3)). A value is a number
/// of the field's width, the first byte on the wire being the highest. Immutable.
///
/// @since 0.1
@Preview
public enum FlowField {
    /// Ethernet address of the receiver.
    DESTINATION_MAC(Layer.ETHERNET, 0, 6),
    /// Ethernet address of the sender.
    SOURCE_MAC(Layer.ETHERNET, 6, 6),
    /// The protocol behind the addresses, and behind a VLAN tag.
    ETHER_TYPE(Layer.TYPE, 0, 2),
    /// Priority (3 bits), DEI (1) and identifier (12) of a VLAN tag.
    VLAN_TAG(Layer.VLAN, 0, 2),
    /// IPv4 address of the sender.
    IPV4_SOURCE(Layer.IPV4, 12, 4),
    /// IPv4 address of the receiver.
    IPV4_DESTINATION(Layer.IPV4, 16, 4),
    /// Number of the protocol behind the IPv4 header, for example 17 for UDP.
    IPV4_PROTOCOL(Layer.IPV4, 9, 1),
    /// Type of service: DSCP (6 bits) and ECN (2).
    IPV4_TYPE_OF_SERVICE(Layer.IPV4, 1, 1),
    /// Routers that the packet may still pass.
    IPV4_TIME_TO_LIVE(Layer.IPV4, 8, 1),
    /// IPv6 address of the sender.
    IPV6_SOURCE(Layer.IPV6, 8, 16),
    /// IPv6 address of the receiver.
    IPV6_DESTINATION(Layer.IPV6, 24, 16),
    /// Version (4 bits), traffic class (8) and flow label (20).
    IPV6_FLOW(Layer.IPV6, 0, 4),
    /// Number of the protocol behind the IPv6 header, for example 17 for UDP.
    IPV6_NEXT_HEADER(Layer.IPV6, 6, 1),
    /// Routers that the packet may still pass.
    IPV6_HOP_LIMIT(Layer.IPV6, 7, 1),
    /// TCP port of the sender.
    TCP_SOURCE_PORT(Layer.TCP, 0, 2),
    /// TCP port of the receiver.
    TCP_DESTINATION_PORT(Layer.TCP, 2, 2),
    /// UDP port of the sender.
    UDP_SOURCE_PORT(Layer.UDP, 0, 2),
    /// UDP port of the receiver.
    UDP_DESTINATION_PORT(Layer.UDP, 2, 2);

    /// Headers of a frame. A frame has no more than one of each kind that counts: the outermost.
    @Preview
    public enum Layer {
        /// The Ethernet header: both addresses.
        ETHERNET,
        /// The EtherType, which stands behind a VLAN tag if there is one.
        TYPE,
        /// The tag of a VLAN.
        VLAN,
        /// The IPv4 header.
        IPV4,
        /// The IPv6 header.
        IPV6,
        /// TCP right behind the IP header, in a packet that is no later fragment.
        TCP,
        /// UDP right behind the IP header, in a packet that is no later fragment.
        UDP
    }

    private final Layer layer;
    private final int offset;
    private final int bytes;

    FlowField(Layer layer, int offset, int bytes) {
        this.layer = layer;
        this.offset = offset;
        this.bytes = bytes;
    }

    /// Returns the header that the field is in.
    public Layer layer() {
        return layer;
    }

    /// Returns where the field begins in its header, in bytes.
    public int offset() {
        return offset;
    }

    /// Returns the width of the field in bytes.
    public int bytes() {
        return bytes;
    }
}
