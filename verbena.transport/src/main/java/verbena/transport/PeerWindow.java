package verbena.transport;

import java.util.ArrayDeque;
import verbena.verbs.Gid;

/// How much all reliable connections of one engine to one peer address have under way together, how much that may
/// be, and how long the way there and back takes. Counted in PSNs: packets sent, and packets of answers asked for,
/// because what overflows is counted in packets too, a socket's buffer or a card's ring. Engine-confined.
///
/// The limit doubles with each window that is acknowledged until it is [#PACKETS_MAX] or something gets lost. A
/// loss halves it, once for each round trip; after that it grows by one packet in [#GROWTH_WINDOWS] windows:
/// additive increase, multiplicative decrease (RFC 5681), eight times slower, because going back N makes a loss
/// eight times as dear as TCP has it.
///
/// Who finds no room waits ([#await]), and is told in the order of coming. Who was told and found the room taken,
/// because READs of others are large, is told before those that come later: else it would stand at the end each
/// time, for ever.
public final class PeerWindow {
    /// The limit is never more, in PSNs: half a megabyte of full packets saturates a loopback, and a socket's
    /// buffer of Linux's default size holds about so many that were sent in runs.
    public static final int PACKETS_MAX = 128;
    /// Never less, so that a lost packet has some behind it that tell of it.
    static final int PACKETS_MIN = 4;
    /// At first.
    static final int PACKETS_AT_FIRST = 32;
    /// After a loss, windows that have to be acknowledged for one packet more.
    static final int GROWTH_WINDOWS = 8;
    /// A run of packets: so many full ones (of 4 KiB) make one message of UDP GSO, at most 64 KiB.
    public static final int RUN = 15;
    /// No probe earlier than this after a sign of life: a peer may have to be scheduled first.
    public static final long PROBE_NANOS_MIN = 1_000_000;

    /// How long an answer may take while nobody knows how long answers take: more than a way round the world. A peer
    /// that never answers would keep the room from all other connections otherwise.
    static final long ANSWER_NANOS_AT_FIRST = 250_000_000;

    /// Who may wait for room.
    public interface Waiter {
        /// There may be room now.
        void onRoom();
    }

    final Gid peer;
    int users;

    private final int packetsMax;
    private final long probeNanosMin;
    private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();
    /// Those who were told already, and found no room; before all others.
    private final ArrayDeque<Waiter> again = new ArrayDeque<>();
    private int limit;
    private int outstanding;
    /// Nothing has been lost yet.
    private boolean doubling = true;
    /// Acknowledged towards the next growth.
    private int credit;
    private long lossNanos = Long.MIN_VALUE;
    /// Smoothed, and its mean deviation (RFC 6298); 0 while nothing is known.
    private long roundTripNanos;
    private long deviationNanos;

    PeerWindow(Gid peer, int packetsMax, long probeNanosMin) {
        this.peer = peer;
        this.probeNanosMin = probeNanosMin;
        this.packetsMax = packetsMax;
        this.limit = Math.min(packetsMax, PACKETS_AT_FIRST);
    }

    // ---- how much

    /// PSNs that may be under way, at least one.
    public int limit() {
        return limit;
    }

    /// PSNs under way.
    public int outstanding() {
        return outstanding;
    }

    /// PSNs that may be sent now; may be negative after a loss.
    public int room() {
        return limit - outstanding;
    }

    /// So many have been sent, or sent again.
    public void sent(int psns) {
        outstanding += psns;
    }

    /// So many were answered, and none of them was missing.
    public void answered(int psns) {
        if (2 * outstanding >= limit) { // a window that is not used says nothing
            grow(psns);
        }
    }

    /// So many are not under way any more, because they were answered, or because nobody believes it any more.
    public void done(int psns) {
        outstanding -= psns;
        // Who waits alone is told when its packets can leave in long runs: of what is under way, at most half a
        // window less one packet is not followed by an ACK request, so that much room comes. Of several each gets
        // a run; all are told when nothing would ever come to wake the rest.
        int enough = waiters.size() + again.size() == 1 ? Math.max(1, Math.min(2 * RUN, limit / 4)) : 1;
        int share = outstanding == 0 ? 0 : RUN;
        for (int room = room(); room >= enough; room -= share) {
            ArrayDeque<Waiter> next = again.isEmpty() ? waiters : again;
            if (next.isEmpty()) {
                return;
            }
            next.removeFirst().onRoom();
        }
    }

    /// Tells `waiter`, once, when there may be room.
    ///
    /// @param wasTold whether it has been told, and has sent nothing since
    public void await(Waiter waiter, boolean wasTold) {
        (wasTold ? again : waiters).addLast(waiter);
    }

    /// `waiter` does not want to be told any more.
    public void forget(Waiter waiter) {
        waiters.remove(waiter);
        again.remove(waiter);
    }

    // ---- what the answers say

    private void grow(int psns) {
        if (limit >= packetsMax) {
            return;
        }
        if (doubling) {
            limit = Math.min(packetsMax, limit + psns);
            return;
        }
        credit += psns;
        int price = GROWTH_WINDOWS * limit;
        if (credit >= price) {
            credit -= price;
            limit++;
        }
    }

    /// Something got lost; what is told within a round trip is one loss.
    public void lost(long now) {
        if (lossNanos != Long.MIN_VALUE && now - lossNanos < roundTripNanos) {
            return;
        }
        lossNanos = now;
        doubling = false;
        credit = 0;
        limit = Math.max(Math.min(PACKETS_MIN, packetsMax), limit / 2);
    }

    /// An answer has come so long after what it answers, which was sent once only (RFC 6298, 2 and 3).
    public void roundTrip(long nanos) {
        long sample = Math.max(1, nanos);
        if (roundTripNanos == 0) {
            roundTripNanos = sample;
            deviationNanos = sample / 2;
        } else {
            deviationNanos += (Math.abs(sample - roundTripNanos) - deviationNanos) / 4;
            roundTripNanos += (sample - roundTripNanos) / 8;
        }
    }

    /// How long to wait for an answer. What has none after that takes up no room any more.
    public long answerNanos() {
        return mayProbe() ? Math.max(probeNanosMin, 2 * roundTripNanos + 4 * deviationNanos) : ANSWER_NANOS_AT_FIRST;
    }

    /// Whether to ask what became of a packet that has no answer by then: once a round trip is known.
    public boolean mayProbe() {
        return roundTripNanos != 0 && probeNanosMin != Protocol.NEVER;
    }
}
