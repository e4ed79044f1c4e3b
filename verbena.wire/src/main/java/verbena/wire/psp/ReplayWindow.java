package verbena.wire.psp;

import org.jspecify.annotations.Nullable;

/// The IVs that were accepted of one sender, so that none is accepted twice: the newest IV, and a bit for each IV
/// behind it that has come. IVs are compared modulo 2^64. A receiver checks an IV before it opens the packet, and
/// records it only when the packet is authentic.
///
/// As long as each IV is the successor of the one before, two numbers say which have come. From the first gap on
/// there are words. They form a ring, as RFC 6479 has it, so a newer IV clears words and shifts nothing. One owner;
/// one allocation at most.
public final class ReplayWindow {
    private static final int WORDS = 32; // a power of 2
    /// The distance that an IV may be behind the newest one. A word of the ring is in part before the window.
    public static final int WIDTH = (WORDS - 1) * Long.SIZE;

    private static final int WORD_SHIFT = 6;
    private static final long WORD_NUMBERS = -1L >>> WORD_SHIFT;

    /// The bits; null as long as all IVs from the first to the newest have come, and no other.
    private long @Nullable [] words;

    private long first;
    private long newest;
    private boolean isEmpty = true;

    /// Makes the window of a sender none of whose packets was accepted yet.
    public ReplayWindow() {}

    /// Judges an IV: [PspVerdict#OLD], [PspVerdict#REPEATED], or [PspVerdict#ACCEPTED] so far. Changes nothing.
    public PspVerdict check(long iv) {
        long behind = newest - iv;
        if (isEmpty || behind < 0) {
            return PspVerdict.ACCEPTED;
        }
        if (behind >= WIDTH) {
            return PspVerdict.OLD;
        }
        long[] bits = words;
        boolean hasCome = bits == null ? iv - first >= 0 : (bits[word(iv)] & bit(iv)) != 0;
        return hasCome ? PspVerdict.REPEATED : PspVerdict.ACCEPTED;
    }

    /// Takes note of the IV of an authentic packet, which was just found to be new.
    public void accept(long iv) {
        if (isEmpty) {
            first = iv;
            newest = iv;
            isEmpty = false;
            return;
        }
        if (words == null && iv == newest + 1) {
            newest = iv;
            if (newest - first >= WIDTH) {
                first = newest - WIDTH + 1;
            }
            return;
        }
        long[] bits = bits();
        if (iv - newest > 0) {
            long steps = Math.min((iv >>> WORD_SHIFT) - (newest >>> WORD_SHIFT) & WORD_NUMBERS, WORDS);
            for (int i = 1; i <= steps; i++) {
                bits[word(newest) + i & WORDS - 1] = 0;
            }
            newest = iv;
        }
        bits[word(iv)] |= bit(iv);
    }

    private long[] bits() {
        long[] bits = words;
        if (bits == null) {
            bits = new long[WORDS];
            for (long iv = first; newest - iv >= 0; iv++) {
                bits[word(iv)] |= bit(iv);
            }
            words = bits;
        }
        return bits;
    }

    private static int word(long iv) {
        return (int) (iv >>> WORD_SHIFT) & WORDS - 1;
    }

    private static long bit(long iv) {
        return 1L << iv; // modulo 64
    }
}
