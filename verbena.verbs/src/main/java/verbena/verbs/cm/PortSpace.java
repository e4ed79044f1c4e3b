package verbena.verbs.cm;

/// The space that a port number belongs to (`enum rdma_port_space`, rdma_create_id(3)). Ports of one space say
/// nothing about those of another, nor about ports of TCP and UDP.
public enum PortSpace {
    /// Connections, reliable or not.
    TCP(0x0106),
    /// Datagrams: connecting finds out which queue pair to send to, and multicast groups are joined.
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

    /// Returns whether it is about datagrams.
    public boolean isDatagram() {
        return this == UDP || this == IPOIB;
    }

    /// Returns what the communication manager calls a port: the space, and in the low 16 bits the port (IBTA
    /// A11.2).
    public long serviceId(int port) {
        return ((long) code << 16) | port;
    }
}
