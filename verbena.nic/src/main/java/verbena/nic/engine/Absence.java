package verbena.nic.engine;

/// How long the attendant stays away while threads of the application do the engine's work. The time starts at
/// [#NANOS_MIN] and doubles with each absence. It is also the longest time that packets wait when these threads
/// suddenly stop. Used by one thread.
final class Absence {
    /// The longest absence when threads poll so often that they are unlikely to stop.
    static final long NANOS_OFTEN = 4_000_000;

    private static final long NANOS_MIN = 250_000;
    private static final long NANOS_MAX = 1_000_000;
    /// Threads that poll at least once in this time, on average, poll often.
    private static final long OFTEN_NANOS = 100_000;

    private long nanos = NANOS_MIN;

    long nanos() {
        return nanos;
    }

    /// Starts again with the shortest absence.
    void reset() {
        nanos = NANOS_MIN;
    }

    /// Lengthens the next absence.
    ///
    /// @param times how many times threads have driven the engine in the last [#nanos()]
    /// @param othersWait whether other threads are waiting, which would have to wait for as long as the absence
    ///     lasts
    void extend(long times, boolean othersWait) {
        boolean isOften = times * OFTEN_NANOS >= nanos && !othersWait;
        nanos = Math.min(2 * nanos, isOften ? NANOS_OFTEN : NANOS_MAX);
    }
}
