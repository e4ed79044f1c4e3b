package verbena.nic.link.udp;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;

/// The socket addresses of GIDs, each made once. The table has a fixed size: a new address replaces the one in its
/// place, so the table does not grow with the number of peers. For one thread.
final class AddressCache {
    /// The number of places, a power of two.
    static final int CAPACITY = 1024;

    private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L; // spreads consecutive addresses

    private final long[] highs = new long[CAPACITY];
    private final long[] lows = new long[CAPACITY];
    private final @Nullable InetSocketAddress[] addresses = new @Nullable InetSocketAddress[CAPACITY];
    private final int port;
    private final int scopeId;
    private final boolean isLone;

    /// @param scopeId the interface of link-local addresses
    /// @param isLone whether addresses of loopback are [StandIn]s
    AddressCache(int port, int scopeId, boolean isLone) {
        this.port = port;
        this.scopeId = scopeId;
        this.isLone = isLone;
    }

    InetSocketAddress of(long gidHigh, long gidLow) {
        int place = (int) (((gidHigh * 31 + gidLow) * GOLDEN_RATIO) >>> 54);
        InetSocketAddress known = addresses[place];
        if (known != null && lows[place] == gidLow && highs[place] == gidHigh) {
            return known;
        }
        InetSocketAddress made = make(new Gid(gidHigh, gidLow));
        highs[place] = gidHigh;
        lows[place] = gidLow;
        addresses[place] = made;
        return made;
    }

    private InetSocketAddress make(Gid gid) {
        if (!gid.isLinkLocal()) {
            return isLone ? StandIn.socketOf(gid.address(), port) : new InetSocketAddress(gid.address(), port);
        }
        try {
            return new InetSocketAddress(Inet6Address.getByAddress(null, gid.bytes(), scopeId), port);
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are always an address", e);
        }
    }
}
