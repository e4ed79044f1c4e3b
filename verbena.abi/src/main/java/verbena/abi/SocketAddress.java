package verbena.abi;

import static verbena.foreign.rdma.CmStructs.SOCKADDR_IN;
import static verbena.foreign.rdma.CmStructs.SOCKADDR_IN6;

import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/// `struct sockaddr`, of IPv4 and IPv6.
final class SocketAddress {
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;

    private SocketAddress() {}

    /// @throws IllegalArgumentException when it is NULL or of another family
    static InetSocketAddress read(long from) {
        int family = Native.getShort(Native.some(from)) & 0xFFFF;
        try {
            return switch (family) {
                case AF_INET ->
                    new InetSocketAddress(
                            InetAddress.getByAddress(bytes(from + SOCKADDR_IN.at("sin_addr"), 4)), port(from));
                case AF_INET6 ->
                    new InetSocketAddress(
                            Inet6Address.getByAddress(
                                    null,
                                    bytes(from + SOCKADDR_IN6.at("sin6_addr"), 16),
                                    Native.getInt(from + SOCKADDR_IN6.at("sin6_scope_id"))),
                            port(from));
                default ->
                    throw new IllegalArgumentException("sockaddr: family " + family + "; IPv4 and IPv6 it can be");
            };
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("sockaddr: " + e.getMessage(), e);
        }
    }

    /// The address that stands for any, of the same family.
    static InetAddress any(InetAddress like) {
        return any(like instanceof Inet4Address ? AF_INET : AF_INET6);
    }

    static InetAddress any(int family) {
        try {
            return InetAddress.getByAddress(new byte[family == AF_INET6 ? 16 : 4]);
        } catch (UnknownHostException e) {
            throw new AssertionError("addresses have 4 or 16 bytes", e);
        }
    }

    private static int port(long from) {
        return Native.bigEndian(Native.getShort(from + 2)) & 0xFFFF;
    }

    private static byte[] bytes(long from, int count) {
        var bytes = new byte[count];
        MemorySegment.copy(Native.at(from, count), 0, MemorySegment.ofArray(bytes), 0, count);
        return bytes;
    }

    /// Bytes that [#write] needs.
    static long size(InetSocketAddress address) {
        return address.getAddress() instanceof Inet4Address ? SOCKADDR_IN.size() : SOCKADDR_IN6.size();
    }

    /// All zero for none.
    static void write(@Nullable InetSocketAddress address, long into) {
        if (address == null) {
            return;
        }
        InetAddress host = address.getAddress();
        Native.at(into, size(address)).fill((byte) 0);
        Native.putShort(into, host instanceof Inet4Address ? AF_INET : AF_INET6);
        Native.putShort(into + 2, Native.bigEndian((short) address.getPort()));
        byte[] bytes = host.getAddress();
        long at = into + (bytes.length == 4 ? SOCKADDR_IN.at("sin_addr") : SOCKADDR_IN6.at("sin6_addr"));
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Native.at(at, bytes.length), 0, bytes.length);
        if (host instanceof Inet6Address six) {
            Native.putInt(into + SOCKADDR_IN6.at("sin6_scope_id"), six.getScopeId());
        }
    }
}
