package verbena.subnet.manager;

import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.wire.mad.PortInfo;

/// The rates of links as path records have them, `enum ibv_rate` (IBTA 15.2.5.16).
final class Rates {
    /// Code and Gb/s, of each rate.
    private static final int[][] TABLE = {
        {2, 2}, {5, 5}, {3, 10}, {11, 14}, {6, 20}, {15, 25}, {19, 28}, {4, 30}, {7, 40}, {20, 50}, {12, 56}, {8, 60},
        {9, 80}, {16, 100}, {13, 112}, {10, 120}, {14, 168}, {17, 200}, {18, 300}, {21, 400}, {22, 600}
    };
    private static final int[] WIDTHS = {1, 4, 8, 12, 2};
    private static final int[] SPEEDS = {2, 5, 10};
    private static final int[] EXTENDED_SPEEDS = {14, 25, 50};

    private Rates() {}

    /// Returns the rate of a port's link; a port without a link is as fast as any.
    static int of(SubnetPort port) {
        if (port.number() == 0) {
            return 22;
        }
        int extended = port.get(PortInfo.LINK_SPEED_EXT_ACTIVE);
        int speed =
                extended != 0 ? pick(EXTENDED_SPEEDS, extended) : pick(SPEEDS, port.get(PortInfo.LINK_SPEED_ACTIVE));
        int gigabits = speed * pick(WIDTHS, port.get(PortInfo.LINK_WIDTH_ACTIVE));
        int code = TABLE[0][0];
        for (int[] rate : TABLE) {
            if (rate[1] <= gigabits) {
                code = rate[0];
            }
        }
        return code;
    }

    private static int pick(int[] values, int bits) {
        return values[Math.min(values.length - 1, Integer.numberOfTrailingZeros(bits | (1 << (values.length - 1))))];
    }

    static int slower(int one, int other) {
        return compare(one, other) < 0 ? one : other;
    }

    static int compare(int one, int other) {
        return Integer.compare(gigabits(one), gigabits(other));
    }

    private static int gigabits(int code) {
        for (int[] rate : TABLE) {
            if (rate[0] == code) {
                return rate[1];
            }
        }
        return 0;
    }
}
