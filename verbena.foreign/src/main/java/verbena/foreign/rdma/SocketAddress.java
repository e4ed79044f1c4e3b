package verbena.foreign.rdma;

import static verbena.foreign.rdma.CmStructs.SOCKADDR_IN;
import static verbena.foreign.rdma.CmStructs.SOCKADDR_IN6;

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
}
