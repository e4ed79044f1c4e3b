package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmRefusal;
import verbena.cm.noise.KeyExchange;
import verbena.nic.link.Link;
import verbena.wire.Frame;

/// The peers that agree on no keys. Where protection is offered, their packets leave in the clear after a while; where
/// it is required, who asks for a connection is told why there is none. One owner.
final class PlainPeers {
    private static final System.Logger LOGGER = System.getLogger("verbena.nic");
    private static final long SECOND = 1_000_000_000;
    /// The time that packets wait for an answer, where protection is offered.
    private static final long PATIENCE_NANOS = SECOND / 2;
    /// The time after which a peer that has not answered is asked again.
    private static final long ASK_AGAIN_NANOS = 60 * SECOND;

    private static final long REPORT_NANOS = 10 * SECOND;

    private final Link link;
    private final PspPeers peers;
    private final WaitingPackets waiting;
    private final PspCounters counters;
    private final PlainRefusal refusal;
    private final Frame[] answer;
    /// The peers whose packets leave in the clear soon, unless they answer, in that order.
    private final Deque<PspPeer> impatient = new ArrayDeque<>();
    /// The refusals of requests that no peer has got, which arrive here as if from the peer.
    private final Deque<Frame> refusals = new ArrayDeque<>();

    private long reportedNanos;

    PlainPeers(Link link, PspPeers peers, WaitingPackets waiting, PspCounters counters, Arena arena, long now) {
        this.link = link;
        this.peers = peers;
        this.waiting = waiting;
        this.counters = counters;
        refusal = new PlainRefusal(now);
        answer = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64));
        reportedNanos = now - REPORT_NANOS;
    }

    /// Notes that a packet waits; whether there is a deadline from now on.
    boolean isWaiting(PspPeer peer, long now) {
        if (peer.mode != PspPolicy.Mode.OFFERED || peer.patienceNanos != 0) {
            return false;
        }
        peer.patienceNanos = now + PATIENCE_NANOS;
        impatient.add(peer);
        return true;
    }

    /// Returns the next time at which packets leave in the clear, or [KeyExchange#NEVER].
    long deadlineNanos() {
        PspPeer first = impatient.peek();
        return first == null ? KeyExchange.NEVER : first.patienceNanos;
    }

    /// Sends what has waited for long enough in the clear.
    void onTime(long now) {
        for (PspPeer peer = impatient.peek(); peer != null && now - peer.patienceNanos >= 0; peer = impatient.peek()) {
            impatient.remove();
            peer.patienceNanos = 0;
            goPlain(peer, now);
        }
    }

    /// Notes that a peer has not answered.
    void onSilent(PspPeer peer, long now) {
        if (peer.mode == PspPolicy.Mode.OFFERED) {
            peer.nextTryNanos = now + ASK_AGAIN_NANOS;
            PspPeers.keep(peer, peer.nextTryNanos);
            goPlain(peer, now);
            return;
        }
        PspEvents.silent(peer);
        boolean isAnswered = false;
        for (Frame frame : waiting.taken(peer)) {
            counters.unsealed.incrementAndGet();
            Frame back = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
            if (!isAnswered && refusal.answer(frame, CmRefusal.PSP_UNANSWERED, back, now)) {
                refusals.add(back);
                isAnswered = true; // the others repeat it
            }
        }
    }

    private void goPlain(PspPeer peer, long now) {
        if (peer.hasKeys(now)) {
            return;
        }
        if (!peer.isPlain) {
            set(peer, true);
            PspEvents.silent(peer);
        }
        if (now - reportedNanos >= REPORT_NANOS) {
            reportedNanos = now;
            LOGGER.log(
                    System.Logger.Level.INFO,
                    "packets to {0} leave in the clear: it does not answer, and the policy for it is \"offered\"",
                    peer.pair.remote());
        }
        waiting.send(peer, now);
    }

    /// Notes that a peer has keys.
    void onKeys(PspPeer peer) {
        set(peer, false);
    }

    private void set(PspPeer peer, boolean isPlain) {
        if (peer.isPlain != isPlain) {
            peer.isPlain = isPlain;
            counters.plainPeers = peers.countPlain();
        }
    }

    /// Refuses what a plain packet asks for.
    void refuse(Frame plain, long now) {
        if (refusal.answer(plain, CmRefusal.PSP_WANTED, answer[0], now)) {
            int _ = link.transmit(answer, 0, 1);
        }
    }

    /// Returns whether there is a refusal to hand out.
    boolean hasRefusals() {
        return !refusals.isEmpty();
    }

    /// Returns a refusal that arrives now; null when there is none.
    @Nullable
    Frame nextRefusal() {
        return refusals.poll();
    }
}
