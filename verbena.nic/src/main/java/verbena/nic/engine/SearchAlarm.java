package verbena.nic.engine;

/// An alarm for attackers that guess numbers: more packets that do not fit any connection
/// ([verbena.transport.PacketFate#isGuess()]) than a network's accidents explain.
///
/// Each such packet adds 10 ms to a debt, which the passing of time pays off; a debt of 1,000 packets is a search.
/// So it notices 1,000 packets at once, or 2,000 at 200 per second, but never fewer than 100 per second.
/// Engine-confined.
final class SearchAlarm {
    /// The number of packets at once that count as a search.
    static final int PACKETS = 1_000;
    /// The time after an alarm in which there is no other.
    static final long SILENCE_NANOS = 10_000_000_000L;

    private static final long PACKET_NANOS = 10_000_000;

    /// The time at which the debt will be paid.
    private long paid = Long.MIN_VALUE;

    private long quietUntil = Long.MIN_VALUE;

    /// Counts such a packet; returns true when this makes it a search and the last alarm is long enough ago.
    boolean isSearch(long now) {
        paid = Math.max(paid, now) + PACKET_NANOS;
        if (paid - now < PACKETS * PACKET_NANOS || now < quietUntil) {
            return false;
        }
        paid = now;
        quietUntil = now + SILENCE_NANOS;
        return true;
    }
}
