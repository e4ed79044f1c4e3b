package verbena.transport.rc;

import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.RequestWriter;
import verbena.transport.Retransmission;
import verbena.transport.SendCompletions;
import verbena.transport.congestion.ReactionPoint;
import verbena.transport.congestion.WindowShare;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Psn;

/// The sending half of a reliable connection (IBTA 9.7.2, 9.7.3 and 9.9.2): starts requests, sends their packets,
/// and completes them in order. Engine-confined. The rest is elsewhere:
///
/// | job | class |
/// |---|---|
/// | which requests and PSNs are under way | [SendCursor] |
/// | what is in a packet | [RequestWriter] |
/// | how much may be under way to the peer | [WindowShare] |
/// | what an answer means | [Responses] |
/// | when what is sent again | [LossRecovery] |
/// | what is sent again out of turn | [Repeater], [EarlyAnswers], [MissingPackets] |
/// | when to ask whether the peer lives | [KeepAlive] |
/// | what ends when a request fails | [RequestFailures] |
/// | which packets the peer has not read | [UnreadPackets] |
///
/// A [Detour] may carry out requests without packets.
///
/// A READ asks for no more than there is room for, and goes on asking as the answers come.
final class Requester implements Responses.Sender {
    /// Keep-alives of all connections to a peer that may wait for their answers at once. They are due together, and
    /// a socket of Linux's default size holds some 270 small packets.
    private static final int KEEP_ALIVES_MAX = 64;

    private static final RcTimer[] TIMERS = RcTimer.values();

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final HalfOwner owner;
    private final RequestWriter writer;
    private final SendCompletions completions;

    private final SendQueue sends;
    private final SendCursor cursor;
    private final OutstandingReads reads = new OutstandingReads();
    private final WindowShare share;
    private final RcTimers timers = new RcTimers();
    private final LossRecovery recovery;
    private final Responses responses;
    private final Repeater repeater;
    private final KeepAlive keepAlive;
    private final RequestFailures failures;
    private final UnreadPackets unread = new UnreadPackets();
    private Detour detour = Detour.NONE;

    private boolean drainedReported;

    Requester(
            QueuePairCore core,
            HalfOwner owner,
            RequestWriter writer,
            SendQueue sends,
            CompletionRing completions,
            boolean signalAll,
            ReactionPoint reaction) {
        this.core = core;
        this.p = core.parameters;
        this.owner = owner;
        this.writer = writer;
        this.completions = new SendCompletions(core, sends, completions, signalAll);
        this.sends = sends;
        this.cursor = new SendCursor(sends);
        this.share = new WindowShare(core.events::onReady, reaction);
        var early = new EarlyAnswers(cursor);
        var missing = new MissingPackets(cursor);
        this.recovery = new LossRecovery(core, cursor, reads, share, timers, early, missing);
        this.failures = new RequestFailures(core, owner, cursor, this.completions);
        this.responses = new Responses(core, this, failures, cursor, recovery, timers, early);
        this.repeater = new Repeater(core, writer, cursor, recovery, early, missing, share, failures);
        this.keepAlive = new KeepAlive(p, timers);
    }

    /// Lets a detour carry out requests from now on.
    void detour(Detour by) {
        detour = by;
    }

    /// Sends packets by this [PacketWay] from now on, which shows whether the peer has read them.
    void watch(PacketWay way) {
        unread.watch(way);
    }

    SendCursor cursor() {
        return cursor;
    }

    // ---- life

    /// Handles a change of the queue pair's state, or a change within it. The work for ERR is in [#flush].
    void onModified(QpState from, QpState to) {
        switch (to) {
            case RESET -> reset();
            case RTS -> {
                if (from == QpState.RTR) {
                    start();
                }
                drainedReported = false;
            }
            case SQD -> {
                if (from != QpState.SQD) {
                    drainedReported = false;
                }
                checkDrained();
            }
            case INIT, RTR, SQE, ERR -> {}
        }
    }

    private void start() {
        cursor.start(p.sqPsn);
        share.join(p.windows, p.path.destinationHigh(), p.path.destinationLow());
        recovery.start();
    }

    /// Follows a migration of the connection: packets from now on share the window to the peer's other address.
    void followPath() {
        if (!isWorking()) {
            return;
        }
        share.leave(p.windows);
        share.join(p.windows, p.path.destinationHigh(), p.path.destinationLow());
        core.events.onReady();
    }

    /// Starts the keep-alive: RTS has been entered, or something has been changed in it.
    void armKeepAlive(long now) {
        keepAlive.arm(now);
    }

    /// Notes that the peer lives: some packet of it has come.
    void heard(long now) {
        keepAlive.heard(now);
    }

    /// Forgets everything, and completes nothing.
    private void reset() {
        stop();
        cursor.moveTo(sends.published());
        sends.retire(cursor.head());
        keepAlive.forget();
    }

    /// Completes everything that is posted as flushed, in order (ERR).
    void flush() {
        stop();
        cursor.moveTo(completions.flushAll(cursor.head()));
    }

    private void stop() {
        cursor.stop();
        unread.forget();
        detour.onStopped();
        share.leave(p.windows);
        recovery.stop();
    }

    /// Checks whether SQD is reached, when it has been entered or something has finished in it.
    private void checkDrained() {
        if (p.state == QpState.SQD && !drainedReported && !hasStarted()) {
            drainedReported = true;
            if (p.notifyWhenDrained) {
                core.events.onAsyncEvent(AsyncEvent.Type.SQ_DRAINED);
            }
        }
    }

    /// Returns whether SQD is still waiting for started requests.
    boolean isDraining() {
        return p.state == QpState.SQD && hasStarted();
    }

    private boolean hasStarted() {
        return cursor.hasStarted() || detour.hasBegun();
    }

    /// Returns whether requests may be under way.
    @Override
    public boolean isWorking() {
        return p.state == QpState.RTS || p.state == QpState.SQD;
    }

    // ---- departures

    /// Returns whether no request may begin or go on now.
    boolean isPaused() {
        return !isWorking() || timers.isSet(RcTimer.RNR);
    }

    /// Sends a packet that has to be sent again out of turn.
    boolean pollAgain(Frame frame, long now) {
        return !isPaused() && repeater.poll(frame, now);
    }

    /// Sends the next packet of the requests in their turn.
    boolean poll(Frame frame, long now) {
        if (isPaused()) {
            return false;
        }
        while (cursor.hasCurrent()) {
            Beginning begin = cursor.isCurrentNew() ? begin() : Beginning.MAY_LEAVE;
            switch (begin) {
                case DONE -> {} // the next one
                case WAITS -> {
                    return false;
                }
                case MAY_LEAVE -> {
                    return send(frame, now);
                }
            }
        }
        return false;
    }

    /// Begins with the current request, which is new. That may happen again.
    Beginning begin() {
        SendRequest request = cursor.current();
        if (!mayStart(request)) {
            return Beginning.WAITS;
        }
        if (request.operation.isLocal()) {
            return executeLocal(request) ? Beginning.DONE : Beginning.WAITS;
        }
        return prepare(request) ? Beginning.MAY_LEAVE : Beginning.WAITS;
    }

    /// Sends the next packet of the current request, if it may leave now.
    boolean send(Frame frame, long now) {
        SendRequest request = cursor.current();
        int psns = request.psns(cursor.packet());
        return mayLeave(request, now) && hasRoom(psns) && send(request, psns, frame, now);
    }

    /// Completes the current request, which needed no packets.
    void finishCurrent() {
        SendRequest request = cursor.current();
        cursor.skip();
        completions.succeed(request, cursor.head());
    }

    /// Goes on after requests are done: a failed request may have its turn, and the queue may be drained.
    void goOn() {
        if (isWorking()) {
            failures.failStalled();
            checkDrained();
        }
    }

    private boolean mayStart(SendRequest request) {
        if (p.state != QpState.RTS && !(p.state == QpState.SQD && detour.hasBegun())) {
            return false;
        }
        // A fence waits for all READs and atomics before it (IBTA 10.8.3.3); what is done on this side only
        // waits for everything, so that going back never crosses it.
        return request.operation.isLocal() ? cursor.isCurrentOldest() : !request.fenced || reads.size() == 0;
    }

    private boolean executeLocal(SendRequest request) {
        if (!core.executeLocal(request)) {
            failures.stall(cursor.currentPosition());
            return false;
        }
        finishCurrent();
        return true;
    }

    /// Looks whether the request can be sent, and how many PSNs it will take; false when it fails on this side. It
    /// may still have to wait, so this can happen again.
    private boolean prepare(SendRequest request) {
        MemoryVerdict verdict = request.isInline
                ? MemoryVerdict.OK
                : core.memory.checkLocal(request.scatter, p.protectionDomain, request.operation.needsResponse());
        if (verdict != MemoryVerdict.OK) {
            failures.failLocally(request, cursor.currentPosition(), 0, verdict);
            return false;
        }
        if (request.operation.needsResponse() && p.readsOutstandingMax == 0) {
            request.localError = WcStatus.LOC_QP_OP_ERR;
            request.localCause = "max_rd_atomic is 0: the queue pair may not have a READ or atomic outstanding";
            failures.stall(cursor.currentPosition());
            return false;
        }
        request.psnCount = writer.psnCount(request);
        // A READ is asked for in pieces of half a window, where the peer takes two at a time, so that it always
        // has one to answer. Pieces stay as they are: only what was asked for can be asked for again (IBTA
        // 9.7.5.1.3).
        request.piecePsns = p.readsOutstandingMax == 1 ? share.limit() : Math.max(1, share.limit() / 2);
        return true;
    }

    /// Returns whether the request may leave. The peer takes only so many READs and atomics at once; other packets
    /// leave at the rate of the connection.
    private boolean mayLeave(SendRequest request, long now) {
        return request.operation.needsResponse() ? reads.size() < p.readsOutstandingMax : share.mayLeave(now);
    }

    private boolean hasRoom(int psns) {
        // Whether the peer lives has to be known also when losses have made the window small.
        return (cursor.isKeepAlive(cursor.currentPosition()) && share.outstandingOfAll() < KEEP_ALIVES_MAX)
                || share.hasRoom(psns, cursor.underWay());
    }

    private boolean send(SendRequest request, int psns, Frame frame, long now) {
        int packet = cursor.packet();
        int psn = cursor.next();
        boolean last = packet + psns == request.psnCount;
        boolean asks = last || request.operation.needsResponse() || share.wantsAck(cursor.underWay());
        MemoryVerdict verdict = writer.write(frame, request, packet, psns, psn, asks);
        if (verdict != MemoryVerdict.OK) {
            failures.failLocally(request, cursor.currentPosition(), packet, verdict);
            return false;
        }
        if (asks) {
            share.asked();
            recovery.asking(now);
        }
        if (request.operation.needsResponse()) {
            reads.add(Psn.add(psn, psns - 1), p.readsOutstandingMax);
        }
        repeater.countKeepAlive(cursor.currentPosition());
        if (cursor.isSendingAgain()) {
            core.counters.count(Counter.RETRANSMITTED_PACKETS);
        }
        cursor.advance(psns);
        share.sent(psns);
        if (!request.operation.needsResponse()) {
            share.sentData(p.path, frame.length, now);
        }
        recovery.sent(now);
        return true;
    }

    // ---- answers

    PacketFate onResponse(Frame frame, Opcode opcode, long now) {
        return responses.onResponse(frame, opcode, now);
    }

    /// Completes the oldest request, which is done. A keep-alive completes nowhere.
    @Override
    public void finishOldest(SendRequest request) {
        if (cursor.finishOldest()) {
            completions.succeed(request, cursor.head());
        }
    }

    /// Notes that all PSNs before `psn` have their answers; a request that failed on this side may have its turn.
    @Override
    public void progress(int psn, long now) {
        if (!isWorking()) {
            return; // completing a request has ended the connection
        }
        unread.forget();
        detour.onAcknowledged();
        int answered = Psn.distance(cursor.unacked(), psn);
        cursor.answeredBefore(psn);
        recovery.progressed(answered, now);
        failures.failStalled();
        checkDrained();
    }

    /// Goes back. When that was tried as often as it may be, the connection migrates to its alternate path, or
    /// fails.
    @Override
    public void retry(Retransmission why, long now) {
        if (recovery.retry(why, now)) {
            return;
        }
        if (core.migration.migrate()) {
            owner.onMigrated();
            recovery.beginAnew(why, now);
            return;
        }
        failures.failOldest(
                WcStatus.RETRY_EXC_ERR,
                0,
                why.text(cursor.unacked()) + ", the " + failures.describeOldest() + ", after " + p.retryCount
                        + " retries with an ACK timeout of " + KeepAlive.words(p.ackTimeoutNanos) + "; "
                        + keepAlive.lastSignOfLife(core.peer(), now));
    }

    // ---- timers

    long deadlineNanos() {
        return timers.earliest();
    }

    void onDeadline(long now) {
        for (RcTimer timer : TIMERS) {
            if (timers.expire(timer, now)) {
                onTimer(timer, now);
            }
        }
    }

    private void onTimer(RcTimer timer, long now) {
        switch (timer) {
            case RNR -> {} // sending goes on
            case PROBE -> recovery.onLateAnswer(now);
            case ACK -> {
                recovery.onAckTimeout();
                if (unread.waitsForReader(now)) {
                    recovery.waitForReader(unread.mayBeLost(), now);
                } else {
                    retry(Retransmission.ACK_TIMEOUT, now);
                }
            }
            case KEEP_ALIVE -> {
                // What is outstanding is looked after by the ACK timer, and what has begun without
                // packets is soon done. That the peer's memory can be reached is no sign that the peer
                // lives.
                if (keepAlive.isQuiet(now) && !cursor.hasOldest() && !detour.hasBegun() && isWorking()) {
                    cursor.beginKeepAlive();
                }
            }
        }
    }

    // ---- failure

    /// Fails the oldest request: no answer will ever come.
    void peerGone(String cause) {
        if (isWorking() && cursor.hasHead()) {
            failures.failOldest(WcStatus.RETRY_EXC_ERR, 0, cause);
        } else if (p.state == QpState.RTR || isWorking()) {
            owner.fail(cause);
        }
    }
}
