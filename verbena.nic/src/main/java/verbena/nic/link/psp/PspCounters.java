package verbena.nic.link.psp;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import verbena.cm.noise.KeyExchange;
import verbena.wire.psp.PspVerdict;

/// What a [PspLink] has dropped, by reason, and its agreements. Written by the engine, read by any thread.
final class PspCounters {
    /// Arrivals without PSP.
    final AtomicLong plain = new AtomicLong();
    /// Departures that had no keys.
    final AtomicLong unsealed = new AtomicLong();
    /// Departures to where no keys can be had.
    final AtomicLong refused = new AtomicLong();
    /// Peers at this moment.
    volatile int peers;

    private final AtomicLongArray verdicts = new AtomicLongArray(PspVerdict.values().length);
    private final AtomicLongArray exchanges = new AtomicLongArray(KeyExchange.Count.values().length);

    void count(PspVerdict verdict) {
        verdicts.incrementAndGet(verdict.ordinal());
    }

    void count(KeyExchange.Count event) {
        exchanges.incrementAndGet(event.ordinal());
    }

    void report(Map<String, Long> to) {
        to.put("psp.peers.now", (long) peers);
        for (PspVerdict verdict : PspVerdict.values()) {
            if (verdict != PspVerdict.ACCEPTED) {
                to.put("psp.dropped." + name(verdict), verdicts.get(verdict.ordinal()));
            }
        }
        to.put("psp.dropped.plain", plain.get());
        to.put("psp.dropped.unsealed", unsealed.get());
        for (KeyExchange.Count event : KeyExchange.Count.values()) {
            to.put("psp.keys." + name(event), exchanges.get(event.ordinal()));
        }
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
