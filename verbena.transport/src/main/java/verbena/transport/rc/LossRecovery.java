package verbena.transport.rc;

import verbena.transport.Counter;
import verbena.transport.Protocol;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Retransmission;
import verbena.transport.congestion.WindowShare;
import verbena.wire.ib.Psn;

/// The retransmissions of a [Requester]: their times and their packets (IBTA 9.7.5.1.1, 9.7.6.1.3; decision 05).
/// Losses are repaired by going back to the first PSN that has no answer. Engine-confined.
///
/// When nothing comes for longer than answers take, a probe is sent: the oldest and the newest packet once more. The
/// peer's answer shows what was lost, a packet or its answer, and the ACK timer need not run out. The responder
/// answers the oldest with an ACK in any case. If it has missed something, the newest is ahead of what it expects,
/// and is answered with a NAK (IBTA C9-115). Of a READ or atomic the oldest is enough: it has an answer of its own.
final class LossRecovery {
    /// The least ACK timeout: a peer in user space may have to be woken first. The standard lets a timer run up to
    /// four times its value (IBTA C9-141).
    private static final long ACK_TIMEOUT_NANOS_MIN = 2_000_000;
    /// Waiting for the answer to a probe doubles at most so often.
    private static final int PROBE_DOUBLINGS_MAX = 10;
    /// `rnrRetry`: without limit.
    private static final int RNR_RETRY_FOREVER = 7;

    /// A packet of a probe.
    enum Probe {
        OLDEST,
        NEWEST,
        NONE
    }

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final SendCursor cursor;
    private final OutstandingReads reads;
    private final WindowShare share;
    private final RcTimers timers;
    private final EarlyAnswers early;
    private final MissingPackets missing;

    private int retriesLeft;
    private int rnrRetriesLeft;
    /// The requester went back, and nothing has been acknowledged since: more NAKs of the same gap are ignored.
    private boolean recovering;

    /// The next packet of a probe.
    private Probe probe = Probe.NONE;
    /// A probe has been due since there was progress.
    private boolean isProbing;
    /// The number of times that the wait for an answer has doubled since a round trip was last timed (RFC 6298, 5.5
    /// to 5.7); less by 1 with each answer to a probe.
    private int doublings;
    /// A packet whose answer is awaited by the clock, and when it was sent; [Protocol#NEVER] when there is none.
    private int timedPsn;
    private long timedNanos = Protocol.NEVER;

    LossRecovery(
            QueuePairCore core,
            SendCursor cursor,
            OutstandingReads reads,
            WindowShare share,
            RcTimers timers,
            EarlyAnswers early,
            MissingPackets missing) {
        this.core = core;
        this.p = core.parameters;
        this.cursor = cursor;
        this.reads = reads;
        this.share = share;
        this.timers = timers;
        this.early = early;
        this.missing = missing;
    }

    // ---- life

    void start() {
        retriesLeft = p.retryCount;
        rnrRetriesLeft = p.rnrRetry;
    }

    void stop() {
        timers.cancelAll();
        probe = Probe.NONE;
        recovering = false;
        isProbing = false;
        doublings = 0;
        timedNanos = Protocol.NEVER;
        reads.clear();
        early.clear();
        missing.forget();
    }

    // ---- departures

    /// Begins to time the round trip of a packet that asks for an answer and is about to be sent, unless another is
    /// timed. A packet that is sent again is not timed: the answer may be for either of the two (Karn's rule, RFC
    /// 6298, 3).
    void asking(long now) {
        if (timedNanos == Protocol.NEVER && !cursor.isSendingAgain()) {
            timedPsn = cursor.next();
            timedNanos = now;
        }
    }

    /// Sets the timer when a packet has been sent.
    void sent(long now) {
        if (!timers.isSet(RcTimer.ACK) && !timers.isSet(RcTimer.PROBE)) {
            arm(now);
        }
    }

    /// Takes the next packet of the probe that is due: first the oldest, then the newest.
    Probe takeProbe() {
        Probe due = probe;
        probe = due == Probe.OLDEST ? Probe.NEWEST : Probe.NONE;
        return due;
    }

    /// Drops the rest of the probe, which is not needed.
    void endProbe() {
        probe = Probe.NONE;
    }

    /// Notes that a packet of a probe is sent: an answer may now be to the packet or to the probe (RFC 6298, 3).
    void probed() {
        timedNanos = Protocol.NEVER;
        share.asked();
    }

    // ---- answers

    /// Notes that so many more PSNs have their answers. Forward progress gives all retries back (IBTA 9.7.5.1.1).
    void progressed(int psns, long now) {
        recovering = false;
        retriesLeft = p.retryCount;
        rnrRetriesLeft = p.rnrRetry;
        timers.cancel(RcTimer.RNR);
        reads.answeredBefore(cursor.unacked());
        early.answeredBefore(cursor.unacked());
        boolean waited = missing.isKnown(); // the answer has waited for a packet that was sent again
        missing.answeredBefore(cursor.unacked());
        boolean isTimed = timedNanos != Protocol.NEVER && Psn.isBefore(timedPsn, cursor.unacked());
        if (isTimed && !waited) {
            timeRoundTrip(now);
        } else if (isProbing && doublings > 0) {
            doublings--; // perhaps something was lost, perhaps the peer has become slow: wait for half as long again
        }
        timedNanos = isTimed ? Protocol.NEVER : timedNanos;
        boolean again = isProbing;
        if (cursor.isAllAnswered()) {
            disarm();
        } else {
            arm(now);
            // What the probe has brought to light is not all: the oldest packet is another one now, and may be missing.
            probe = again ? Probe.OLDEST : Probe.NONE;
        }
        share.answered(psns);
        share.settle(cursor.underWay());
    }

    private void timeRoundTrip(long now) {
        share.roundTrip(now - timedNanos, now);
        timedNanos = Protocol.NEVER;
        doublings = 0;
    }

    /// Returns whether the requester went back already, and waits for the result.
    boolean isRepairing() {
        return recovering || timers.isSet(RcTimer.RNR);
    }

    /// Goes back; false when that was tried as often as it may be.
    boolean retry(Retransmission why, long now) {
        if (retriesLeft == 0) {
            return false;
        }
        retriesLeft--;
        repair(why);
        share.lost(now);
        arm(now);
        return true;
    }

    /// Handles the loss of answers before `psn`: they alone are asked for again, and no retry is used up.
    void miss(int psn) {
        if (early.know(psn)) {
            core.events.onRetransmission(Retransmission.LOST_RESPONSE, cursor.unacked(), retriesLeft);
            timedNanos = Protocol.NEVER;
        }
    }

    /// Handles a report that the peer lacks `psn`, and keeps some packets behind it
    /// ([verbena.wire.ib.SelectiveAck]): only the missing packets are sent again, and no retry is used up.
    void lacks(int psn, long near, long far, long now) {
        if (missing.told(psn, near, far)) {
            core.events.onRetransmission(Retransmission.SEQUENCE_NAK, psn, retriesLeft);
        }
        if (timedNanos != Protocol.NEVER) {
            if (missing.isKept(timedPsn)) {
                timeRoundTrip(now);
            } else if (missing.isMissing(timedPsn)) {
                timedNanos = Protocol.NEVER;
            }
        }
    }

    /// Notes that only lost packets are sent again: a packet that the peer lacks, or requests for some answers.
    void repaired(int psns, long now) {
        share.asked();
        for (int i = 0; i < psns; i++) {
            share.repaired(now);
        }
        setProbeTimer(now);
    }

    /// Goes back on another path, where all retries are there again.
    void beginAnew(Retransmission why, long now) {
        retriesLeft = p.retryCount;
        rnrRetriesLeft = p.rnrRetry;
        repair(why);
        arm(now);
    }

    private void repair(Retransmission why) {
        core.events.onRetransmission(why, cursor.unacked(), retriesLeft);
        goBack();
        recovering = true;
    }

    /// Goes back, and waits as the peer asked, which had no receive for the packet with this PSN; returns false
    /// when that was tried as often as it may be.
    boolean waitForReceive(int psn, long waitNanos, long now) {
        boolean forever = p.rnrRetry == RNR_RETRY_FOREVER;
        if (!forever && rnrRetriesLeft-- == 0) {
            return false;
        }
        goBack();
        // The peer answers, and that is what retries of the other kind are counted for: ibv_modify_qp(3), retry_cnt.
        retriesLeft = p.retryCount;
        disarm(); // IBTA 9.7.5.2.8: not while we wait as asked
        timers.set(RcTimer.RNR, now + waitNanos);
        core.events.onRnrNak(psn, waitNanos, forever ? Integer.MAX_VALUE : rnrRetriesLeft);
        return true;
    }

    private void goBack() {
        cursor.goBack();
        reads.clear();
        early.goBack();
        missing.forget();
        timedNanos = Protocol.NEVER;
        probe = Probe.NONE;
        share.asked();
        share.settle(cursor.underWay()); // what was under way is lost, or will be thrown away
    }

    // ---- timers

    /// Sets the timers when something is unacknowledged, and there has just been a sign of life, or the beginning.
    /// Packets that have to wait for their time are given the time for an answer from then on.
    private void arm(long now) {
        long from = cursor.underWay() == 0 ? share.leavesNanos(now) : now;
        timers.set(
                RcTimer.ACK,
                p.ackTimeoutNanos == 0 ? Protocol.NEVER : from + Math.max(p.ackTimeoutNanos, ACK_TIMEOUT_NANOS_MIN));
        isProbing = false;
        probe = Probe.NONE;
        setProbeTimer(from);
    }

    private void setProbeTimer(long now) {
        assert doublings >= 0 && doublings <= PROBE_DOUBLINGS_MAX : "how long to wait is bounded";
        timers.set(RcTimer.PROBE, now + (share.answerNanos() << doublings));
    }

    private void disarm() {
        timers.cancel(RcTimer.ACK);
        timers.cancel(RcTimer.PROBE);
        probe = Probe.NONE;
    }

    /// Handles a late answer. The unanswered packets are not under way any more: others need not wait for them. The
    /// peer is probed, when it is known how long its answers take.
    void onLateAnswer(long now) {
        if (share.mayProbe()) {
            core.counters.count(Counter.PROBES);
            probe = Probe.OLDEST;
            isProbing = true;
            doublings = Math.min(doublings + 1, PROBE_DOUBLINGS_MAX);
            setProbeTimer(now);
        }
        share.giveUp();
    }

    /// Begins the wait for an answer anew, and uses up no retry: the peer has not read the packets.
    ///
    /// @param mayBeLost whether some may be lost all the same, so that they are sent again
    void waitForReader(boolean mayBeLost, long now) {
        if (mayBeLost) {
            repair(Retransmission.ACK_TIMEOUT);
            share.lost(now);
        }
        arm(now);
    }

    /// Handles the ACK timeout: no answer came in time.
    void onAckTimeout() {
        disarm();
        core.counters.count(Counter.ACK_TIMEOUTS);
    }
}
