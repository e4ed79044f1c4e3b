package verbena.nio;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Both addresses of a connection by TCP. A client names the connection by them, in the first bytes of the stream to
/// which it is to move.
record TcpAddresses(InetSocketAddress client, InetSocketAddress server) {
    /// The size of the name: a mark, and for each end an IPv6 address and a port. IPv4 addresses are mapped (RFC
    /// 4291 2.5.5.2).
    static final int BYTES = 44;

    /// The protocol of streams that begin with a name, so that no listener takes them for connections of their own.
    static final int PROTOCOL = 1;

    private static final byte[] MARK = "verbena1".getBytes(StandardCharsets.US_ASCII);
    private static final int IPV6 = 16;
    private static final int IPV4 = 4;

    /// Compares as a record does, whose own comparison takes a process's first connection some milliseconds: it is made
    /// of method handles.
    @Override
    public boolean equals(Object other) {
        return other instanceof TcpAddresses(var otherClient, var otherServer)
                && client.equals(otherClient)
                && server.equals(otherServer);
    }

    @Override
    public int hashCode() {
        return 31 * client.hashCode() + server.hashCode();
    }

    ByteBuffer name() {
        ByteBuffer made = ByteBuffer.allocate(BYTES).put(MARK);
        put(client, made);
        put(server, made);
        return made.flip();
    }

    private static void put(InetSocketAddress end, ByteBuffer into) {
        byte[] address = end.getAddress().getAddress();
        if (address.length == IPV4) {
            into.position(into.position() + IPV6 - IPV4 - 2).putShort((short) -1);
        }
        into.put(address).putShort((short) end.getPort());
    }

    /// Reads a name; empty when it is none.
    static Optional<TcpAddresses> parse(ByteBuffer name) {
        byte[] mark = new byte[MARK.length];
        if (name.remaining() != BYTES || !ByteBuffer.wrap(MARK).equals(name.slice(0, mark.length))) {
            return Optional.empty();
        }
        ByteBuffer ends = name.slice(mark.length, BYTES - mark.length);
        return Optional.of(new TcpAddresses(end(ends), end(ends)));
    }

    private static InetSocketAddress end(ByteBuffer from) {
        byte[] address = new byte[IPV6];
        from.get(address);
        try {
            return new InetSocketAddress(InetAddress.getByAddress(address), Short.toUnsignedInt(from.getShort()));
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }
}
