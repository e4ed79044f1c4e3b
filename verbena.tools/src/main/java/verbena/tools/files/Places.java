package verbena.tools.files;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// Places for connections, of which no address gets all. All of this host's own addresses count as one. So does an
/// IPv6 network of 64 bits: one host may have any number of its addresses. Any thread may use it.
final class Places {
    private static final int NETWORK_BYTES = 8;
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private final int all;
    private final int share;
    private final Map<InetAddress, Integer> taken = new HashMap<>();
    private int takenInAll;

    /// @param share that one address may have
    Places(int all, int share) {
        this.all = all;
        this.share = share;
    }

    /// Returns places of which one address leaves the last quarter, and at least one, to others.
    static Places shared(int all) {
        return new Places(all, Math.max(1, all - Math.max(1, all / 4)));
    }

    /// Returns places that are all for one address: no other comes.
    static Places unshared(int all) {
        return new Places(all, all);
    }

    int all() {
        return all;
    }

    /// Takes a place for this address; returns false when there is none.
    synchronized boolean take(InetAddress from) {
        InetAddress origin = origin(from);
        int has = taken.getOrDefault(origin, 0);
        if (takenInAll == all || has == share) {
            return false;
        }
        taken.put(origin, has + 1);
        takenInAll++;
        return true;
    }

    synchronized void giveBack(InetAddress from) {
        taken.computeIfPresent(origin(from), (_, has) -> has == 1 ? null : has - 1);
        takenInAll--;
    }

    private static InetAddress origin(InetAddress from) {
        if (from.isLoopbackAddress()) {
            return LOOPBACK;
        }
        if (!(from instanceof Inet6Address) || from.isLinkLocalAddress()) {
            return from;
        }
        byte[] network = from.getAddress();
        Arrays.fill(network, NETWORK_BYTES, network.length, (byte) 0);
        try {
            return InetAddress.getByAddress(network);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address", e);
        }
    }
}
