package verbena.sim.ethernet;

/// The packets from a base on that have come: a ring of bits that moves up with its base, and grows when it has to.
final class PsnWindow {
    private static final int SHIFT = 6;

    /// A power of two of words.
    private long[] words = new long[2];
    private long base;
    /// Above the highest that has come.
    private long end;

    long base() {
        return base;
    }

    /// Returns the PSN above the highest that has come.
    long end() {
        return end;
    }

    boolean has(long psn) {
        return psn < base || (psn < end && (words[word(psn)] & 1L << psn) != 0);
    }

    /// Adds one that is not below the base; false when it was there.
    boolean add(long psn) {
        assert psn >= base : psn + " from " + base;
        if (has(psn)) {
            return false;
        }
        while ((psn >>> SHIFT) - (base >>> SHIFT) >= words.length) {
            grow();
        }
        words[word(psn)] |= 1L << psn;
        end = Math.max(end, psn + 1);
        return true;
    }

    private void grow() {
        long[] before = words;
        words = new long[2 * before.length];
        for (long at = base >>> SHIFT; at <= end >>> SHIFT && at < (base >>> SHIFT) + before.length; at++) {
            words[(int) at & words.length - 1] = before[(int) at & before.length - 1];
        }
    }

    /// Returns a bit for each of the 64 packets from `psn` on, set when the packet has come.
    long bits(long psn) {
        long bits = 0;
        for (long at = Math.max(psn, base); at < Math.min(psn + Long.SIZE, end); at++) {
            bits |= has(at) ? 1L << (at - psn) : 0;
        }
        return bits;
    }

    /// Adds those from `psn` on whose bits are set.
    void addAll(long psn, long bits) {
        for (long left = bits; left != 0; left &= left - 1) {
            long each = psn + Long.numberOfTrailingZeros(left);
            if (each >= base) {
                add(each);
            }
        }
    }

    /// Moves the base above all that have come without a gap.
    void advance() {
        while (base < end && has(base)) {
            remove(base++);
        }
    }

    /// Moves the base to `psn` or stays.
    void advanceTo(long psn) {
        while (base < psn) {
            if (base < end) {
                remove(base);
            }
            base++;
        }
        end = Math.max(end, base);
    }

    private void remove(long psn) {
        words[word(psn)] &= ~(1L << psn);
    }

    private int word(long psn) {
        return (int) (psn >>> SHIFT) & words.length - 1;
    }
}
