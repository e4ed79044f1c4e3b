package verbena.nic.engine;

/// How long a thread polls in vain before it yields the processor. The thread that it waits for may need the same
/// processor: because there is only one, or because a compiler holds the other. Then each message waits for the
/// yield, and a short patience is worth much. Where no other thread wants the processor, a yield is a system call in
/// vain. How long the yields take tells the two apart (decision 0150).
///
/// Not synchronized: a value that another thread has just replaced does no harm.
final class Patience {
    static final long NANOS_MAX = 30_000;
    static final long NANOS_MIN = 1_000;
    /// A shorter yield has found no other thread that wants the processor.
    static final long ALONE_NANOS = 3_000;
    /// A longer one was used by a thread that does not poll, a compiler for example: it was too early.
    static final long TAKEN_NANOS = 200_000;

    private long nanos = NANOS_MAX;

    long nanos() {
        return nanos;
    }

    /// Learns from a yield.
    ///
    /// @param tookNanos the time until it returned
    void yielded(long tookNanos) {
        if (tookNanos > TAKEN_NANOS) {
            nanos = NANOS_MAX;
        } else if (tookNanos > ALONE_NANOS) {
            nanos = Math.max(NANOS_MIN, nanos / 2);
        } else {
            nanos = Math.min(NANOS_MAX, nanos * 2);
        }
    }
}
