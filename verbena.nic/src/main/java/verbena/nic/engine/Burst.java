package verbena.nic.engine;

/// Whether a doorbell may wait for others. The first doorbell of a thread leaves at once, and begins a burst. Those
/// that follow soon, before the thread polls again, may wait and leave together: with the next poll, with a doorbell
/// for which there is no room in the burst, or with whatever else makes the engine send.
///
/// A thread may post and then do something else for long. Its last doorbells are forgotten then: the attendant sends
/// them, at the latest when it looks whether threads still poll. For a while no doorbell waits then, for longer each
/// time. A thread that lost its processor in a burst looks the same, but has many bursts that end well.
///
/// Many threads may ask at once. A race between them makes a doorbell leave earlier or later than it would have, by a
/// burst at most.
final class Burst {
    /// Requests that wait, at most: what leaves then is a long row for the operating system.
    static final int REQUESTS_MAX = 32;
    /// Bytes of theirs: larger messages fill rows by themselves.
    static final int BYTES_MAX = 4096;
    /// Doorbells that ring so long after the first of a burst do not wait.
    static final long NANOS_MAX = 20_000;
    /// Doorbells that have waited so long are forgotten.
    static final long FORGOTTEN_NANOS = 100_000;
    /// How long no doorbell waits after one was forgotten: doubles each time.
    static final long PAUSE_NANOS_MIN = 2_000_000;
    static final long PAUSE_NANOS_MAX = 100_000_000;
    /// A burst that ends well shortens the next pause by one in so many.
    private static final int FORGIVENESS = 64;

    private static final long NO_THREAD = 0;

    /// The thread that has begun it, by its number.
    private volatile long poster = NO_THREAD;
    private volatile long sinceNanos;
    private volatile long pausedUntilNanos = Long.MIN_VALUE;
    private volatile long pauseNanos = PAUSE_NANOS_MIN;
    // What waits. Written by the poster, and by the attendant when that was forgotten.
    private int requests;
    private long bytes;

    /// Whether what this thread has posted may wait. If not, it is the first of a burst, and the caller sends.
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

    /// This thread's doorbell leaves at once, with whatever waits.
    private void begin(long thread, long now) {
        sinceNanos = now;
        requests = 0;
        bytes = 0;
        poster = thread;
    }

    /// This thread polls: what waits leaves, and the next doorbell is the first.
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

    /// Whether nothing should wait any more, if anything does.
    boolean isOver(long now) {
        return now - sinceNanos >= NANOS_MAX;
    }

    /// For the attendant, which has found doorbells that wait: whether their thread has forgotten them.
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
