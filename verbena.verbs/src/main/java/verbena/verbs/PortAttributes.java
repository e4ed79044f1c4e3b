package verbena.verbs;

/// State and limits of a port (`struct ibv_port_attr`, ibv_query_port(3)). Immutable.
///
/// @param state whether it can be used
/// @param maxMtu largest path MTU that the port could use
/// @param activeMtu largest path MTU that it can use now, given the MTU of the network interface
/// @param gidTableLength number of entries that the GID table can have
/// @param capabilityFlags bits of `enum ibv_port_cap_flags`
/// @param maxMessageBytes longest message, in bytes
/// @param pkeyTableLength number of P_Keys
/// @param lid local identifier, 16 bits, InfiniBand only; 0 on Ethernet
/// @param subnetManagerLid LID of the subnet manager's port, InfiniBand only; 0 on Ethernet
/// @param lidMaskControl number of low bits of the LID that may have any value, 0 to 7: with n of them the port has
///     `2^n` LIDs, from `lid` on. InfiniBand only; 0 on Ethernet
/// @param activeWidth link width as libibverbs encodes it (1: 1X, 2: 4X, 4: 8X, 8: 12X)
/// @param activeSpeed lane speed as libibverbs encodes it (1: 2.5 Gb/s, 2: 5, 4: 10, 16: 14, 32: 25, 64: 50)
/// @param physicalState state of the link as libibverbs encodes it (2: polling, 3: disabled, 5: link up)
/// @param linkLayer network that the port is connected to
/// @since 0.1
public record PortAttributes(
        PortState state,
        Mtu maxMtu,
        Mtu activeMtu,
        int gidTableLength,
        int capabilityFlags,
        long maxMessageBytes,
        int pkeyTableLength,
        int lid,
        int subnetManagerLid,
        int lidMaskControl,
        int activeWidth,
        int activeSpeed,
        int physicalState,
        LinkLayer linkLayer) {
    /// Attributes as a device has them; for providers.
    @Preview
    public PortAttributes {}
}
