package verbena.transport.congestion;

import java.util.ArrayDeque;
import verbena.verbs.Gid;

/// Counts what all reliable connections of one engine to one peer address have under way together. The unit is the
/// PSN: packets sent, and packets of answers asked for. A socket's buffer or a card's ring overflows by packets too.
/// [LossWindow] decides how much may be under way, [RoundTrip] measures how long an answer takes. A [ReactionPoint]
/// may hold a single connection to less. Engine-confined.
///
/// A connection that finds no room waits ([#await]). Waiting connections are notified in the order in which they
/// came. A connection that was notified may find the room taken again, because READs of others are large. It then
/// keeps its place before later ones; otherwise it could wait for ever.
public final class PeerWindow {
    /// The limit is never more, in PSNs. Half a megabyte of full packets saturates a loopback. A socket's buffer of
    /// Linux's default size holds about so many that were sent in runs.
    public static final int PACKETS_MAX = 128;
    /// A run of packets: so many full ones (of 4 KiB) make one message of UDP GSO, at most 64 KiB.
    public static final int RUN = 15;
    /// The earliest time of a probe after a sign of life: a peer may have to be scheduled first.
    public static final long PROBE_NANOS_MIN = 1_000_000;
    /// The value, in place of a time, with which no probe is ever sent.
    public static final long NO_PROBES = Long.MAX_VALUE;

    /// The time that an answer may take while it is unknown how long answers take: longer than a trip round the
    /// world. A peer that never answers would keep the room from all other connections otherwise.
    static final long ANSWER_NANOS_AT_FIRST = 250_000_000;

    /// A connection that may wait for room.
    interface Waiter {
        /// Handles a chance that there is room now.
        void onRoom();
    }

    final Gid peer;
    int users;

    private final long probeNanosMin;
    private final CongestionControl control;
    private final RoundTrip roundTrip = new RoundTrip();
    private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();
    /// The waiters that were notified and found no room. They come before all others.
    private final ArrayDeque<Waiter> again = new ArrayDeque<>();
    private int outstanding;

    PeerWindow(Gid peer, int packetsMax, long probeNanosMin) {
        this.peer = peer;
        this.probeNanosMin = probeNanosMin;
        this.control = new LossWindow(packetsMax);
    }

    // ---- how much

    /// Returns the number of PSNs that may be under way, at least one.
    int limit() {
        return control.limit();
    }

    /// Returns the number of PSNs under way.
    int outstanding() {
        return outstanding;
    }

    /// Returns the number of PSNs that may be sent now; may be negative after a loss.
    public int room() {
        return limit() - outstanding;
    }

    /// Counts PSNs that have been sent, or sent again.
    void sent(int psns) {
        outstanding += psns;
    }

    /// Notes that so many PSNs are not under way any more, because they were answered, or because an answer is not
    /// expected any more.
    void done(int psns) {
        outstanding -= psns;
        assert outstanding >= 0 : "only what was sent is done";
        // A connection that waits alone is told when its packets can leave in long runs. That much room comes: at
        // most half a window less one packet is under way without an ACK request behind it. Of several each gets a
        // run. All are told when nothing is under way that would wake the rest.
        int enough = waiters.size() + again.size() == 1 ? Math.max(1, Math.min(2 * RUN, limit() / 4)) : 1;
        int share = outstanding == 0 ? 0 : RUN;
        for (int room = room(); room >= enough; room -= share) {
            ArrayDeque<Waiter> next = again.isEmpty() ? waiters : again;
            if (next.isEmpty()) {
                return;
            }
            next.removeFirst().onRoom();
        }
    }

    /// Notifies `waiter`, once, when there may be room.
    void await(Waiter waiter) {
        waiters.addLast(waiter);
    }

    /// Notifies a waiter again that was notified, and has sent nothing since.
    void awaitAgain(Waiter waiter) {
        again.addLast(waiter);
    }

    /// Forgets `waiter`, which is not notified any more.
    void forget(Waiter waiter) {
        waiters.remove(waiter);
        again.remove(waiter);
    }

    // ---- what the answers say

    /// Counts PSNs that were answered without a gap.
    void answered(int psns) {
        control.answered(psns, outstanding);
    }

    /// Called when a packet got lost.
    void lost(long now) {
        control.lost(now, roundTrip.nanos());
    }

    /// Called when a packet got lost that alone is sent again.
    void repaired(long now) {
        control.repaired(now, roundTrip.nanos());
    }

    /// Returns the smoothed round trip; 0 while nothing is known.
    long roundTripNanos() {
        return roundTrip.nanos();
    }

    /// Measures a round trip: the answer to a packet that was sent only once.
    void roundTrip(long nanos) {
        roundTrip.sample(nanos);
    }

    /// Returns the time to wait for an answer. A packet that has none after that takes up no room any more.
    long answerNanos() {
        return mayProbe() ? Math.max(probeNanosMin, roundTrip.lateNanos()) : ANSWER_NANOS_AT_FIRST;
    }

    /// Returns whether to probe for a packet that has no answer by then: once a round trip is known.
    boolean mayProbe() {
        return roundTrip.isKnown() && probeNanosMin != NO_PROBES;
    }
}
