package verbena.wire.ib;

/// Packet sequence numbers: 24 bits on a circle (IBTA 9.7.2).
///
/// A PSN is an `int` in `0..0xFFFFFF`. "Before" and "after" have a meaning between numbers that are less than half
/// the circle, 2^23, apart; no correct sender has more outstanding. The point exactly opposite counts as before: a
/// responder's duplicate region is `[expected - 2^23, expected - 1]`.
public final class Psn {
    /// The mask of the bits of a PSN.
    public static final int MASK = 0xFF_FFFF;
    /// Numbers on the circle.
    public static final int COUNT = 1 << 24;
    /// Half the circle: the farthest that two numbers can be apart.
    public static final int HALF = 1 << 23;

    private Psn() {}

    /// Returns the PSN `n` places after `psn`, or before it for a negative `n`.
    public static int add(int psn, int n) {
        return (psn + n) & MASK;
    }

    /// Returns the PSN after `psn`.
    public static int next(int psn) {
        return (psn + 1) & MASK;
    }

    /// Returns the PSN before `psn`.
    public static int previous(int psn) {
        return (psn - 1) & MASK;
    }

    /// Steps from `from` to `to` by the shorter path round the circle, in `[-2^23, 2^23)`: negative when `to` lies
    /// before `from`.
    public static int distance(int from, int to) {
        return ((to - from) << 8) >> 8;
    }

    /// Returns whether `a` lies before `b`.
    public static boolean isBefore(int a, int b) {
        return distance(b, a) < 0;
    }

    /// Returns whether `a` lies after `b`.
    public static boolean isAfter(int a, int b) {
        return distance(b, a) > 0;
    }

    /// Returns whether `psn` is among the `count` numbers from `first` on; `count` is at most 2^24.
    public static boolean isWithin(int psn, int first, int count) {
        return ((psn - first) & MASK) < count;
    }

    /// Returns the later of two PSNs.
    public static int max(int a, int b) {
        return isBefore(a, b) ? b : a;
    }

    /// Returns the earlier of two PSNs.
    public static int min(int a, int b) {
        return isBefore(a, b) ? a : b;
    }

    /// Returns how many PSNs a message of `bytes` takes up at a path MTU of `mtu` bytes: one per packet, at least
    /// one. `bytes` is at most 2^31 (IBTA 9.7.7), so that the result fits the circle at every legal MTU.
    public static int count(long bytes, int mtu) {
        return bytes <= mtu ? 1 : Math.toIntExact((bytes + mtu - 1) / mtu);
    }
}
