package verbena.sim.ethernet;

import java.util.Arrays;

/// Behind which host an Ethernet address is. Holds [#CAPACITY] addresses: when it is full, it forgets those that it
/// has learned and begins anew, as the frames of a sender that invents addresses would otherwise fill it for good.
final class MacTable {
    static final int UNKNOWN = -1;
    static final int CAPACITY = 1 << 12;

    /// Open addressing with twice the room; -1 is no address.
    private final long[] addresses = new long[2 * CAPACITY];

    private final int[] hosts = new int[2 * CAPACITY];
    private int size;

    MacTable() {
        Arrays.fill(addresses, -1);
    }

    int find(long address) {
        int at = place(address);
        return addresses[at] == address ? hosts[at] : UNKNOWN;
    }

    void learn(long address, int host) {
        int at = place(address);
        if (addresses[at] != address) {
            if (size == CAPACITY) {
                Arrays.fill(addresses, -1);
                size = 0;
                at = place(address);
            }
            size++;
            addresses[at] = address;
        }
        hosts[at] = host;
    }

    private int place(long address) {
        long mixed = address * 0x9E37_79B9_7F4A_7C15L;
        int at = (int) (mixed >>> 32) & addresses.length - 1;
        while (addresses[at] != -1 && addresses[at] != address) {
            at = at + 1 & addresses.length - 1;
        }
        return at;
    }
}
