package verbena.nic.shm;

/// The choice, from measurements, of the stores for long copies to a peer's memory: ordinary stores, or stores that
/// pass the caches ([verbena.foreign.linux.StreamingStores]). Ordinary ones are fast while the memory lies in this
/// processor's caches, and slow where another processor has read it since the last copy. Which of it holds is not
/// known here, and changes when the system moves a thread. So now and then some copies are made in each way, one
/// after the other, and timed.
///
/// Used by one thread at a time.
final class CopyChoice {
    /// A shorter copy is made by ordinary stores.
    static final int BYTES_MIN = 4 << 10;
    /// The number of copies by each kind of store that are compared. The fastest of them counts, because a thread
    /// may lose its processor in any.
    static final int SAMPLES = 4;
    /// The number of copies before the first comparison. Their number doubles with each one that changes nothing.
    static final int PAUSE_MIN = 16;

    static final int PAUSE_MAX = 4_096;
    /// Ordinary stores may take so much longer. The peer reads what they have left in a cache faster than from
    /// memory.
    static final double WORTH = 1.5;

    private boolean isPast;
    private int pause = PAUSE_MIN;
    private int left = PAUSE_MIN;
    // In a comparison.
    private int samples;
    private double chosen;
    private double other;

    /// Returns whether the copy that was begun passes the caches.
    boolean isPast() {
        return isPast != samples >= SAMPLES;
    }

    /// Begins a copy; returns whether it is to be [timed][#timed].
    boolean begin() {
        if (left > 0) {
            left--;
            return false;
        }
        return true;
    }

    /// Notes that the copy that was begun is done.
    void timed(long bytes, long nanos) {
        double perByte = (double) nanos / bytes;
        if (samples < SAMPLES) {
            chosen = samples == 0 ? perByte : Math.min(chosen, perByte);
        } else {
            other = samples == SAMPLES ? perByte : Math.min(other, perByte);
        }
        samples++;
        if (samples == 2 * SAMPLES) {
            samples = 0;
            decide();
        }
    }

    private void decide() {
        double ordinary = isPast ? other : chosen;
        double past = isPast ? chosen : other;
        boolean pays = ordinary > WORTH * past;
        pause = pays == isPast ? Math.min(2 * pause, PAUSE_MAX) : PAUSE_MIN;
        left = pause;
        isPast = pays;
    }
}
