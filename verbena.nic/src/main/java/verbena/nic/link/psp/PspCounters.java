package verbena.nic.link.psp;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import verbena.cm.noise.KeyExchange;
import verbena.wire.psp.PspVerdict;

/// The counters of a [PspLink]: dropped packets, by reason, and agreements. Written by the engine, read by any
/// thread.
final class PspCounters {
    /// The number of arrivals without PSP.
    final AtomicLong plain = new AtomicLong();
    /// The number of departures that had no keys.
    final AtomicLong unsealed = new AtomicLong();
    /// The number of departures to addresses for which there can be no keys.
    final AtomicLong refused = new AtomicLong();
    /// The number of arrivals in the clear that were taken.
    final AtomicLong taken = new AtomicLong();
    /// The number of peers at this moment.
    volatile int peers;
    /// The number of those whose packets are in the clear.
    volatile int plainPeers;

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
        to.put("psp.peers.plain.now", (long) plainPeers);
        to.put("psp.received.plain", taken.get());
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

    static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
