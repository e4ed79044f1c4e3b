package verbena.nic.engine;

/// Decides whether a doorbell may wait for others. The first doorbell of a thread is sent at once and begins a
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
    /// The most requests that wait. Together they make a long batch for the operating system.
    static final int REQUESTS_MAX = 32;
    /// The most bytes of the messages that wait. Larger messages fill a batch by themselves.
    static final int BYTES_MAX = 4096;
    /// A doorbell that rings this long after the first of a burst does not wait.
    static final long NANOS_MAX = 20_000;
    /// A doorbell that has waited this long has been forgotten.
    static final long FORGOTTEN_NANOS = 100_000;
    /// The pause after a doorbell was forgotten, in which no doorbell waits. It doubles each time.
    static final long PAUSE_NANOS_MIN = 2_000_000;
    static final long PAUSE_NANOS_MAX = 100_000_000;
    /// A burst that ends well shortens the next pause by this fraction of it.
    private static final int FORGIVENESS = 64;

    private static final long NO_THREAD = 0;

    /// The number of the thread that began the burst.
    private volatile long poster = NO_THREAD;
    private volatile long sinceNanos;
    private volatile long pausedUntilNanos = Long.MIN_VALUE;
    private volatile long pauseNanos = PAUSE_NANOS_MIN;
    // The requests that wait. Written by the poster, and by the attendant when the poster has forgotten them.
    private int requests;
    private long bytes;

    /// Returns whether what this thread has posted may wait. If not, it begins a burst, and the caller sends.
    boolean mayWait(long thread, int newRequests, long newBytes, long now) {
        if (poster == thread
                && requests + newRequests <= REQUESTS_MAX
                && bytes + newBytes <= BYTES_MAX
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
        if (requests > 0 && pause > PAUSE_NANOS_MIN) {
            pauseNanos = Math.max(PAUSE_NANOS_MIN, pause - pause / FORGIVENESS);
        }
    }

    /// Whether the burst is over, so that no doorbell may wait any longer.
    boolean isOver(long now) {
        return now - sinceNanos >= NANOS_MAX;
    }

    /// Returns whether the thread has forgotten its doorbells. Called by the attendant when it has found doorbells
    /// that wait.
    boolean isForgotten(long now) {
        if (now - sinceNanos < FORGOTTEN_NANOS) {
            return false;
        }
        long pause = pauseNanos;
        pausedUntilNanos = now + pause;
        pauseNanos = Math.min(2 * pause, PAUSE_NANOS_MAX);
        requests = 0;
        return true;
    }
}
