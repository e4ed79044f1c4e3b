package verbena.nic.engine;

/// The time that a thread polls in vain before it yields the processor. The thread that it waits for may need the
/// same processor: because there is only one, or because a compiler holds the other. Then each message waits for the
/// yield, and a short patience is worth much. Where no other thread wants the processor, a yield is a system call in
/// vain. How long the yields take tells the two apart (decision 13).
///
/// Not synchronized: a value that another thread has just replaced does no harm.
final class Patience {
    private long nanos = Tuning.YIELD_AFTER_NANOS_MAX;

    long nanos() {
        return nanos;
    }

    /// Learns from a yield.
    ///
    /// @param tookNanos the time until it returned
    void yielded(long tookNanos) {
        if (tookNanos > Tuning.TAKEN_NANOS) {
            nanos = Tuning.YIELD_AFTER_NANOS_MAX;
        } else if (tookNanos > Tuning.YIELD_ALONE_NANOS) {
            nanos = Math.max(Tuning.YIELD_AFTER_NANOS_MIN, nanos / 2);
        } else {
            nanos = Math.min(Tuning.YIELD_AFTER_NANOS_MAX, nanos * 2);
        }
    }
}
