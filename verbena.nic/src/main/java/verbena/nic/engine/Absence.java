package verbena.nic.engine;

/// The time that the attendant stays away while threads of the application do the engine's work. The time starts at
/// [Tuning#ABSENCE_NANOS_MIN] and doubles with each absence. It is also the longest time that packets wait when
/// these threads suddenly stop. Used by one thread.
final class Absence {
    private long nanos = Tuning.ABSENCE_NANOS_MIN;

    long nanos() {
        return nanos;
    }

    /// Starts again with the shortest absence.
    void reset() {
        nanos = Tuning.ABSENCE_NANOS_MIN;
    }

    /// Lengthens the next absence.
    ///
    /// @param times how many times threads have driven the engine in the last [#nanos()]
    /// @param othersWait whether other threads are waiting, which would have to wait for as long as the absence
    ///     lasts
    void extend(long times, boolean othersWait) {
        boolean isOften = times * Tuning.OFTEN_NANOS >= nanos && !othersWait;
        nanos = Math.min(2 * nanos, isOften ? Tuning.ABSENCE_NANOS_OFTEN : Tuning.ABSENCE_NANOS_MAX);
    }
}
