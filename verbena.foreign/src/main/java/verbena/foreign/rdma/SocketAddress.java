package verbena.foreign.rdma;

import static verbena.foreign.rdma.CmStructs.SOCKADDR_IN;
import static verbena.foreign.rdma.CmStructs.SOCKADDR_IN6;

import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.verbs.Gid;

/// `struct sockaddr_in` and `struct sockaddr_in6`, there and back.
public final class SocketAddress {
    public static final int AF_INET = 2;
    public static final int AF_INET6 = 10;

    private SocketAddress() {}

    /// Writes one of the family that the address has.
    ///
    /// @param at zeroed, with room for the larger
    /// @param scope index of the interface of a link-local address; 0 for others
    public static void write(Gid address, int port, int scope, long at) {
        Memory.putShort(at, address.isIpv4() ? AF_INET : AF_INET6);
        Memory.putShort(at + SOCKADDR_IN.at("sin_port"), Memory.swapShort(port));
        if (address.isIpv4()) {
            Memory.putInt(at + SOCKADDR_IN.at("sin_addr"), Memory.swap((int) address.low()));
        } else {
            Memory.putGid(at + SOCKADDR_IN6.at("sin6_addr"), address);
            Memory.putInt(at + SOCKADDR_IN6.at("sin6_scope_id"), address.isLinkLocal() ? scope : 0);
        }
    }

    public static Gid gid(long at) {
        return Memory.getUnsignedShort(at) == AF_INET
                ? new Gid(
                        0,
                        0xFFFF_0000_0000L
                                | Integer.toUnsignedLong(Memory.swap(Memory.getInt(at + SOCKADDR_IN.at("sin_addr")))))
                : Memory.getGid(at + SOCKADDR_IN6.at("sin6_addr"));
    }

    public static int port(long at) {
        return Memory.swapShort(Memory.getUnsignedShort(at + SOCKADDR_IN.at("sin_port")));
    }

    /// Reads one.
    ///
    /// @throws IllegalArgumentException when the pointer is NULL, or the family another
    public static InetSocketAddress read(long from) {
        if (from == 0) {
            throw new IllegalArgumentException("sockaddr: the pointer is NULL");
        }
        int family = Memory.getUnsignedShort(from);
        try {
            return switch (family) {
                case AF_INET ->
                    new InetSocketAddress(
                            InetAddress.getByAddress(Memory.bytes(from + SOCKADDR_IN.at("sin_addr"), 4)), port(from));
                case AF_INET6 ->
                    new InetSocketAddress(
                            Inet6Address.getByAddress(
                                    null,
                                    Memory.bytes(from + SOCKADDR_IN6.at("sin6_addr"), 16),
                                    Memory.getInt(from + SOCKADDR_IN6.at("sin6_scope_id"))),
                            port(from));
                default ->
                    throw new IllegalArgumentException("sockaddr: family " + family + "; it can be IPv4 or IPv6");
            };
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("sockaddr: " + e.getMessage(), e);
        }
    }

    /// Returns the address that stands for any, of the same family.
    public static InetAddress any(InetAddress like) {
        return any(like instanceof Inet4Address ? AF_INET : AF_INET6);
    }

    public static InetAddress any(int family) {
        try {
            return InetAddress.getByAddress(new byte[family == AF_INET6 ? 16 : 4]);
        } catch (UnknownHostException e) {
            throw new AssertionError("addresses have 4 or 16 bytes", e);
        }
    }

    /// Returns the bytes that [#write] needs.
    public static long size(InetSocketAddress address) {
        return address.getAddress() instanceof Inet4Address ? SOCKADDR_IN.size() : SOCKADDR_IN6.size();
    }

    /// Writes one of the family that the address has; nothing for none.
    public static void write(@Nullable InetSocketAddress address, long into) {
        if (address == null) {
            return;
        }
        InetAddress host = address.getAddress();
        Memory.fill(into, size(address));
        Memory.putShort(into, host instanceof Inet4Address ? AF_INET : AF_INET6);
        Memory.putShort(into + 2, Memory.swapShort(address.getPort()));
        byte[] bytes = host.getAddress();
        long at = into + (bytes.length == 4 ? SOCKADDR_IN.at("sin_addr") : SOCKADDR_IN6.at("sin6_addr"));
        Memory.copyFrom(MemorySegment.ofArray(bytes), at, bytes.length);
        if (host instanceof Inet6Address six) {
            Memory.putInt(into + SOCKADDR_IN6.at("sin6_scope_id"), six.getScopeId());
        }
    }
}
