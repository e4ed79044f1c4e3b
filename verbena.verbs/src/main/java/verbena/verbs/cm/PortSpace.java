package verbena.verbs.cm;

/// The space of a port number (`enum rdma_port_space`, rdma_create_id(3)). The same number in another space is
/// another port, as with ports of TCP and UDP. Devices of iWARP have the space `TCP` only. Immutable.
///
/// @since 0.1
public enum PortSpace {
    /// Connections of queue pairs of type RC, UC or XRC. [Connection] uses this space.
    TCP(0x0106),
    /// Datagrams (UD). Connecting finds the queue pair to send to, and multicast groups can be joined.
    UDP(0x0111),
    /// Connections in InfiniBand's own space, for any service (`RDMA_PS_IB`).
    IB(0x013F),
    /// Datagrams in the multicast groups of IP over InfiniBand.
    IPOIB(0x0002);

    private final int code;

    PortSpace(int code) {
        this.code = code;
    }

    /// Returns the number that stands for the space on the wire, 16 bits.
    public int code() {
        return code;
    }

    /// Returns whether the ports of the space are for datagrams.
    public boolean isDatagram() {
        return this == UDP || this == IPOIB;
    }

    /// Returns the service identifier of a port: the space in the upper bits, and the port in the low 16 (IBTA
    /// A11.2).
    ///
    /// @param port 0 to 65535
    /// @throws IllegalArgumentException when `port` is out of range
    public long serviceId(int port) {
        if (port < 0 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 0 to 65535, got " + port);
        }
        return ((long) code << 16) | port;
    }
}
