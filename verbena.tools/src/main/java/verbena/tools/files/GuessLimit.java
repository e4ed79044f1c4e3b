package verbena.tools.files;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/// A limit on wrong guesses of the secret by an address: a few times at once, then once in a while. So no peer tries
/// many, and none keeps others from trying. Any thread may use it.
final class GuessLimit {
    /// The number of wrong guesses at once.
    static final int BURST = 5;
    /// The time after which one more guess is allowed.
    static final long REFILL_NANOS = 2_000_000_000L;

    /// The address that is forgotten first was wrong longest ago.
    private static final int ADDRESSES_MAX = 1024;

    private final LongSupplier clockNanos;
    /// The time at which an address will have its whole burst again.
    private final Map<InetAddress, Long> fullAt = new LinkedHashMap<>();

    GuessLimit(LongSupplier clockNanos) {
        this.clockNanos = clockNanos;
    }

    /// Returns whether an address may guess now.
    synchronized boolean allows(InetAddress from) {
        Long full = fullAt.get(from);
        return full == null || full - clockNanos.getAsLong() <= (BURST - 1) * REFILL_NANOS;
    }

    /// Counts a wrong guess.
    synchronized void wrong(InetAddress from) {
        long now = clockNanos.getAsLong();
        Long full = fullAt.remove(from);
        fullAt.put(from, (full == null || full - now < 0 ? now : full) + REFILL_NANOS);
        if (fullAt.size() > ADDRESSES_MAX) {
            fullAt.remove(fullAt.keySet().iterator().next());
        }
    }
}
