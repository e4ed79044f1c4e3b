package verbena.nic.engine;

/// How long the attendant stays away while threads of the application do the engine's work: at first for
/// [#NANOS_MIN], then twice as long each time. So long, at most, do packets wait when these threads suddenly stop. For
/// one thread.
final class Absence {
    /// Where threads come so often that they are not likely to stop.
    static final long NANOS_OFTEN = 4_000_000;

    private static final long NANOS_MIN = 250_000;
    private static final long NANOS_MAX = 1_000_000;
    /// Often: once in this time, on the average.
    private static final long OFTEN_NANOS = 100_000;

    private long nanos = NANOS_MIN;

    long nanos() {
        return nanos;
    }

    /// From the beginning.
    void reset() {
        nanos = NANOS_MIN;
    }

    /// Longer next time.
    ///
    /// @param times how often threads have come in the last [#nanos()]; often: the application is quick with each
    ///     message
    /// @param othersWait whether other threads wait that would wait as long
    void extend(long times, boolean othersWait) {
        boolean isOften = times * OFTEN_NANOS >= nanos && !othersWait;
        nanos = Math.min(2 * nanos, isOften ? NANOS_OFTEN : NANOS_MAX);
    }
}
