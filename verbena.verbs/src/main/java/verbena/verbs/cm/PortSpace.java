package verbena.verbs.cm;

/// The space of a port number (`enum rdma_port_space`, rdma_create_id(3)). The same number in another space is
/// another port, and so it is in TCP and UDP. Immutable.
///
/// @since 0.1
public enum PortSpace {
    /// Connections, reliable or not.
    TCP(0x0106),
    /// Datagrams. Connecting finds the queue pair to send to, and multicast groups can be joined.
    UDP(0x0111),
    /// Any service, as InfiniBand has it.
    IB(0x013F),
    /// The port space of IP over InfiniBand, for its multicast groups.
    IPOIB(0x0002);

    private final int code;

    PortSpace(int code) {
        this.code = code;
    }

    /// Returns the number on the wire, 16 bits.
    public int code() {
        return code;
    }

    /// Returns whether its ports are for datagrams.
    public boolean isDatagram() {
        return this == UDP || this == IPOIB;
    }

    /// Returns the connection manager's number of a port: the space, and the port in the low 16 bits (IBTA A11.2).
    ///
    /// @param port 0 to 65535
    public long serviceId(int port) {
        return ((long) code << 16) | port;
    }
}
