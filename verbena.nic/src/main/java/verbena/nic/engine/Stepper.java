package verbena.nic.engine;

/// A wait on an engine that has no thread: it drives the engine until a time of its clock.
public final class Stepper {
    /// The number of steps in vain without time passing, after which no thread seems to move the clock.
    private static final int STANDSTILLS = 10_000;

    private final Engine engine;
    private final long start;
    private final long nanos;
    private long last;
    private int standstills;

    public Stepper(Engine engine, long nanos) {
        this.engine = engine;
        this.nanos = nanos;
        this.start = engine.nowNanos();
        this.last = start;
    }

    /// Drives the engine once, and sleeps in the link when there was nothing to do. False when the time is over.
    ///
    /// @throws IllegalStateException when nothing moves the clock and nothing arrives
    public boolean step() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (engine.step() > 0) {
            standstills = 0;
            return true;
        }
        long now = engine.nowNanos();
        long left = nanos - (now - start);
        if (left <= 0) {
            return false;
        }
        if (now != last) {
            last = now;
            standstills = 0;
        } else if (++standstills > STANDSTILLS) {
            throw new IllegalStateException("await: the device has no thread, nothing arrives, and its clock stands"
                    + " still: drive the other end, or move the clock, in the link's await");
        }
        long deadline = engine.deadlineNanos();
        engine.link().await(deadline <= now ? 0 : Math.min(deadline - now, left));
        return true;
    }
}
