package verbena.nic.engine;

/// The decision whether a doorbell may wait for others. The first doorbell of a thread is sent at once and begins a
/// burst. Doorbells that follow soon, before the thread polls again, may wait and be sent together. They are sent
/// with the next poll, with a doorbell that no longer fits the burst, or with anything else that makes the engine
/// send.
///
/// A thread may post and then do something else for a long time, and so forget its last doorbells. The attendant
/// sends these, at the latest when it checks whether threads still poll. After that, no doorbell waits for a while,
/// and this pause doubles each time. A thread that loses its processor in a burst looks the same, but most of its
/// bursts end well.
///
/// Many threads may ask at once. A race between them sends a doorbell earlier or later than without the race, by one
/// burst at most.
final class Burst {
    private static final long NO_THREAD = 0;

    /// The number of the thread that began the burst.
    private volatile long poster = NO_THREAD;
    private volatile long sinceNanos;
    private volatile long pausedUntilNanos = Long.MIN_VALUE;
    private volatile long pauseNanos = Tuning.PAUSE_NANOS_MIN;
    // The requests that wait. Written by the poster, and by the attendant when the poster has forgotten them.
    private int requests;
    private long bytes;

    /// Returns whether what this thread has posted may wait. If not, it begins a burst, and the caller sends.
    boolean mayWait(long thread, int newRequests, long newBytes, long now) {
        if (poster == thread
                && requests + newRequests <= Tuning.BURST_REQUESTS_MAX
                && bytes + newBytes <= Tuning.BURST_BYTES_MAX
                && !isOver(now)
                && now >= pausedUntilNanos) {
            requests += newRequests;
            bytes += newBytes;
            return true;
        }
        begin(thread, now);
        return false;
    }

    /// Begins a burst with this thread's doorbell, which is sent at once with everything that waits.
    private void begin(long thread, long now) {
        sinceNanos = now;
        requests = 0;
        bytes = 0;
        poster = thread;
    }

    /// Ends this thread's burst because the thread polls: what waits is sent, and the next doorbell begins a burst.
    void end(long thread) {
        if (poster != thread) {
            return;
        }
        poster = NO_THREAD;
        long pause = pauseNanos;
        if (requests > 0 && pause > Tuning.PAUSE_NANOS_MIN) {
            pauseNanos = Math.max(Tuning.PAUSE_NANOS_MIN, pause - pause / Tuning.BURST_FORGIVENESS);
        }
    }

    /// Returns whether the burst is over, so that no doorbell may wait any longer.
    boolean isOver(long now) {
        return now - sinceNanos >= Tuning.BURST_NANOS_MAX;
    }

    /// Returns whether the thread has forgotten its doorbells. Called by the attendant when it has found doorbells
    /// that wait.
    boolean isForgotten(long now) {
        if (now - sinceNanos < Tuning.BURST_FORGOTTEN_NANOS) {
            return false;
        }
        long pause = pauseNanos;
        pausedUntilNanos = now + pause;
        pauseNanos = Math.min(2 * pause, Tuning.PAUSE_NANOS_MAX);
        requests = 0;
        return true;
    }
}
