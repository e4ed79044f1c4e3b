package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.DirectPackets;
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
import verbena.wire.ib.Transport;

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
/// | what needs no packets, where there is such a way | [DirectWays] |
///
/// A READ asks for no more than there is room for, and goes on asking as the answers come.
final class Requester {
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
    private final EarlyAnswers early;
    private final MissingPackets missing;
    private final Repeater repeater;
    private final KeepAlive keepAlive;
    private final RequestFailures failures;
    private final DirectWays direct;

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
        this.early = new EarlyAnswers(cursor);
        this.missing = new MissingPackets(cursor);
        this.recovery = new LossRecovery(core, cursor, reads, share, timers, early, missing);
        this.failures = new RequestFailures(core, owner, cursor, this.completions);
        this.responses = new Responses(core, this, failures, cursor, recovery, timers, early);
        this.repeater = new Repeater(core, writer, cursor, recovery, early, missing, share, failures);
        this.keepAlive = new KeepAlive(p, timers);
        this.direct = new DirectWays(cursor);
    }

    /// Requests are tried there first from now on.
    void peerMemory(PeerMemory memory) {
        direct.use(new DirectRequests(core, memory, cursor, completions, packets()));
    }

    /// What observers are shown.
    DirectPackets packets() {
        return new DirectPackets(core, writer, Transport.RC);
    }

    /// Messages are tried there first from now on.
    ///
    /// @param arrivals whose answers they carry
    /// @param memory carries the data of long ones; null when there is no such way
    DirectMessages peerMessages(PeerMessages way, DirectArrivals arrivals, @Nullable PeerMemory memory) {
        var made = new DirectMessages(core, way, sends, cursor, completions, writer, packets(), arrivals, memory);
        direct.use(made);
        watch(way);
        return made;
    }

    /// Packets take this way, where it can be seen whether the peer has read them.
    void watch(PeerMessages way) {
        direct.watch(way);
    }

    // ---- life

    /// The queue pair has gone from one state to another, or something has been changed in it. What ERR needs is in
    /// [#flush].
    void onModified(QpState from, QpState to) {
        direct.onModified();
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

    /// The connection has migrated: what is sent from now on shares the window to the peer's other address.
    void followPath() {
        if (!isWorking()) {
            return;
        }
        share.leave(p.windows);
        share.join(p.windows, p.path.destinationHigh(), p.path.destinationLow());
        core.events.onReady();
    }

    /// RTS has been entered, or something has been changed in it: the peer is asked from now on whether it lives.
    void armKeepAlive(long now) {
        keepAlive.arm(now);
    }

    /// The peer lives: any packet of it has come.
    void heard(long now) {
        keepAlive.heard(now);
    }

    /// Everything is forgotten, nothing completes.
    private void reset() {
        stop();
        cursor.moveTo(sends.published());
        sends.retire(cursor.head());
        keepAlive.forget();
    }

    /// ERR: everything that is posted completes as flushed, in order.
    void flush() {
        stop();
        cursor.moveTo(completions.flushAll(cursor.head()));
    }

    private void stop() {
        cursor.stop();
        direct.stop();
        share.leave(p.windows);
        recovery.stop();
    }

    /// SQD has been entered, or something has finished in it.
    private void checkDrained() {
        if (p.state == QpState.SQD && !drainedReported && !hasStarted()) {
            drainedReported = true;
            if (p.notifyWhenDrained) {
                core.events.onAsyncEvent(AsyncEvent.Type.SQ_DRAINED);
            }
        }
    }

    /// Whether SQD is still waiting for started requests.
    boolean isDraining() {
        return p.state == QpState.SQD && hasStarted();
    }

    private boolean hasStarted() {
        return cursor.hasStarted() || direct.hasBegun();
    }

    /// Whether requests may be under way.
    boolean isWorking() {
        return p.state == QpState.RTS || p.state == QpState.SQD;
    }

    // ---- departures

    boolean poll(Frame frame, long now) {
        if (!isWorking() || timers.isSet(RcTimer.RNR)) {
            return false;
        }
        if (repeater.poll(frame, now)) {
            return true;
        }
        if (direct.hasMessages()) {
            boolean _ = direct.goOn();
            return false;
        }
        direct.beginTurn();
        while (cursor.hasCurrent()) {
            SendRequest request = cursor.current();
            if (cursor.isCurrentNew()) {
                PeerMemory.Progress progress = begin(request, now);
                if (progress == PeerMemory.Progress.DONE) {
                    continue;
                }
                if (progress == PeerMemory.Progress.MORE) {
                    return false;
                }
            }
            boolean isFirst = cursor.isCurrentNew();
            int psns = psns(request, cursor.packet());
            boolean isSent = mayLeave(request, now) && hasRoom(psns) && send(request, psns, frame, now);
            if (isSent && isFirst) {
                direct.wentByPackets(request);
            }
            return isSent;
        }
        return false;
    }

    /// See [verbena.transport.Shortcut#carryOut()].
    boolean carryOut() {
        if (direct.isEmpty() || p.state != QpState.RTS || timers.isSet(RcTimer.RNR)) {
            return false;
        }
        if (direct.hasMessages()) {
            return direct.goOn();
        }
        direct.beginTurn();
        while (cursor.hasCurrent()) {
            if (!cursor.isCurrentNew() || begin(cursor.current(), DirectWays.NO_TIME) != PeerMemory.Progress.DONE) {
                return direct.isAllHandedOver();
            }
        }
        return true;
    }

    /// Begins with the current request, which is new. It is done already, or goes by packets, or has to wait
    /// ([PeerMemory.Progress#MORE]).
    private PeerMemory.Progress begin(SendRequest request, long now) {
        if (!mayStart(request)) {
            return PeerMemory.Progress.MORE;
        }
        if (request.operation.isLocal()) {
            return executeLocal(request) ? PeerMemory.Progress.DONE : PeerMemory.Progress.MORE;
        }
        if (!prepare(request)) {
            return PeerMemory.Progress.MORE;
        }
        PeerMemory.Progress progress = direct.begin(request, now);
        if (progress == PeerMemory.Progress.DONE) {
            checkDrained();
        }
        return progress;
    }

    private boolean mayStart(SendRequest request) {
        if (p.state != QpState.RTS && !(p.state == QpState.SQD && direct.hasBegun())) {
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
        cursor.skip();
        completions.succeed(request, cursor.head());
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

    /// How many PSNs packet `index` takes: of a READ or atomic as many as it asks for, to the end of its piece.
    static int psns(SendRequest request, int index) {
        return request.operation.needsResponse()
                ? Math.min(request.psnCount - index, request.piecePsns - index % request.piecePsns)
                : 1;
    }

    /// The peer takes only so many READs and atomics at once; other packets leave at the rate of the connection.
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

    /// The peer says which message it expects.
    void onAnswer(DirectMessages to, Frame frame) {
        to.onAnswer(frame);
        if (isWorking()) {
            failures.failStalled();
            checkDrained();
        }
    }

    PacketFate onResponse(Frame frame, Opcode opcode, long now) {
        return responses.onResponse(frame, opcode, now);
    }

    /// The oldest request is done. A keep-alive completes nowhere.
    void finishOldest(SendRequest request) {
        if (cursor.finishOldest()) {
            completions.succeed(request, cursor.head());
        }
    }

    /// All PSNs before `psn` have their answers; a request that failed on this side may have its turn.
    void progress(int psn, long now) {
        if (!isWorking()) {
            return; // completing a request has ended the connection
        }
        direct.proven();
        int answered = Psn.distance(cursor.unacked(), psn);
        cursor.answeredBefore(psn);
        recovery.progressed(answered, now);
        failures.failStalled();
        checkDrained();
    }

    /// Goes back. When that was tried as often as it may be, the connection migrates to its alternate path, or
    /// fails.
    void retry(Retransmission why, long now) {
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
                        + " retries with an ACK timeout of " + p.ackTimeoutNanos / 1_000 + " microseconds; "
                        + keepAlive.lastSignOfLife(core.peer(), now));
    }

    // ---- timers

    long deadlineNanos() {
        return Math.min(timers.earliest(), direct.dueNanos());
    }

    void onDeadline(long now) {
        for (RcTimer timer : TIMERS) {
            if (timers.expire(timer, now)) {
                onTimer(timer, now);
            }
        }
        direct.onDue(now);
    }

    private void onTimer(RcTimer timer, long now) {
        switch (timer) {
            case RNR -> {} // sending goes on
            case PROBE -> recovery.onLateAnswer(now);
            case ACK -> {
                recovery.onAckTimeout();
                if (direct.waitsForReader()) {
                    recovery.waitForReader(now);
                } else {
                    retry(Retransmission.ACK_TIMEOUT, now);
                }
            }
            case KEEP_ALIVE -> {
                // What is outstanding is looked after by the ACK timer, and what has begun without
                // packets is soon done. That the peer's memory can be reached is no sign that the peer
                // lives.
                if (keepAlive.isQuiet(now) && !cursor.hasOldest() && !direct.hasBegun() && isWorking()) {
                    cursor.beginKeepAlive();
                }
            }
        }
    }

    // ---- failure

    /// No answer will ever come.
    void peerGone(String cause) {
        if (isWorking() && cursor.hasHead()) {
            failures.failOldest(WcStatus.RETRY_EXC_ERR, 0, cause);
        } else if (p.state == QpState.RTR || isWorking()) {
            owner.fail(cause);
        }
    }
}
