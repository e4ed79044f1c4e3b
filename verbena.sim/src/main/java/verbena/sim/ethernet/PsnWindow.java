package verbena.sim.ethernet;

/// Which packets from a base on have come: a ring of bits that moves up with its base.
final class PsnWindow {
    private final long[] words;
    private long base;
    /// Above the highest that has come.
    private long end;

    /// @param packets so many fit
    PsnWindow(int packets) {
        words = new long[Math.ceilDiv(packets, Long.SIZE) + 1];
    }

    long base() {
        return base;
    }

    /// Above the highest that has come.
    long end() {
        return end;
    }

    boolean isIn(long psn) {
        return psn >= base && psn < base + 64L * (words.length - 1);
    }

    boolean has(long psn) {
        return psn < base || (psn < end && (words[word(psn)] & 1L << psn) != 0);
    }

    /// Adds one that [#isIn]; false when it was there.
    boolean add(long psn) {
        assert isIn(psn) : psn + " from " + base;
        if (has(psn)) {
            return false;
        }
        words[word(psn)] |= 1L << psn;
        end = Math.max(end, psn + 1);
        return true;
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
        return (int) ((psn >>> 6) % words.length);
    }
}
