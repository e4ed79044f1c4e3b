package verbena.nic.engine;

/// Notices that somebody tries numbers: packets that nobody sends who knows the connection ([PacketFate#isGuess()]),
/// more than a network's accidents explain.
///
/// Each such packet adds 10 ms to a debt that time pays off; 1,000 packets' worth is a search. So a thousand at once
/// are noticed, and 2,000 at 200 a second, but never less than 100 a second. Engine-confined.
final class SearchAlarm {
    /// Packets at once that are a search.
    static final int PACKETS = 1_000;
    /// After an alarm there is none for so long.
    static final long SILENCE_NANOS = 10_000_000_000L;

    private static final long PACKET_NANOS = 10_000_000;

    /// When the debt will be paid.
    private long paid = Long.MIN_VALUE;

    private long quietUntil = Long.MIN_VALUE;

    /// Such a packet has come; true when this makes it a search and the last alarm is long enough ago.
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
