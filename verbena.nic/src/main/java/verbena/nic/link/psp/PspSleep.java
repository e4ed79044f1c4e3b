package verbena.nic.link.psp;

import java.util.function.LongSupplier;
import verbena.cm.noise.KeyExchange;

/// The time at which a [PspLink] has work that no packet brings, and whether a thread sleeps beyond it.
final class PspSleep {
    private final LongSupplier clock;
    // The sleeping thread writes `sleeping`, then reads `due`; the engine the other way round.
    private volatile long due = KeyExchange.NEVER;
    private volatile boolean sleeping;

    PspSleep(LongSupplier clock) {
        this.clock = clock;
    }

    boolean isDue(long now) {
        long at = due;
        return at != KeyExchange.NEVER && now - at >= 0;
    }

    /// Sets the time. Returns whether a thread has to be woken for it.
    boolean set(long at) {
        due = at;
        return sleeping;
    }

    /// Begins a sleep. Returns how long it may be; negative for no limit.
    long begin(long timeoutNanos) {
        sleeping = true;
        long at = due;
        if (at == KeyExchange.NEVER) {
            return timeoutNanos;
        }
        long left = Math.max(0, at - clock.getAsLong());
        return timeoutNanos < 0 ? left : Math.min(timeoutNanos, left);
    }

    void end() {
        sleeping = false;
    }
}
