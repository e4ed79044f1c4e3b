package verbena.transport.weak;

import java.util.SplittableRandom;

/// The times by which things are late. Half of all are not late; of the others, each power of two is as likely.
final class Lateness {
    private static final int BITS_MIN = 8;
    private static final int BITS_MAX = 16;

    private Lateness() {}

    /// Draws the time in nanoseconds by which a packet, a completion, an event or a piece of memory is late.
    static long draw(SplittableRandom random) {
        return random.nextBoolean() ? 0 : random.nextLong(1L << random.nextInt(BITS_MIN, BITS_MAX + 1));
    }
}
