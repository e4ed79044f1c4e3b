package verbena.transport.rc;

import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.PeerWindow;
import verbena.transport.Protocol;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Retransmission;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.SendOperation;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.RnrTimer;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Syndrome;

/// The sending half of a reliable connection (IBTA 9.7.2, 9.7.3 and 9.9.2): cuts requests into packets, keeps what
/// is unacknowledged, and repairs losses by going back to the first PSN that is.
///
/// Positions in the send queue and PSNs stand in this order, oldest first ([#assertOrder()]):
///
/// ```
/// oldest      oldest request that is not done          unacked    oldest PSN without an answer; lies in oldest
/// current     request that is being sent               next       PSN that is sent next
/// started     first request without PSNs               sent       PSN after the last that was ever sent
/// ```
///
/// A request gets its PSNs when its first packet is written, not earlier: a request that waits has none, so that no
/// answer can be meant for it. Going back is nothing but setting `current` to `oldest` and `next` to `unacked`.
///
/// A keep-alive is a WRITE of no bytes in a slot of its own, at the position before `head`, the oldest request that
/// somebody has posted. It begins only when no request is under way, so it is always the oldest; all other rules are
/// those of any WRITE.
///
/// How far `next` may run ahead of `unacked` is for the [PeerWindow], which all connections to a peer share. A
/// READ asks for no more than it has room for, and goes on asking as the answers come.
///
/// When nothing is heard for longer than answers take, a probe is sent: the oldest and the newest packet once
/// more. Whatever was lost, a packet or its answer, the peer's answer tells, and the ACK timer need not run out.
final class Requester implements PeerWindow.Waiter {
    private static final int KEEP_ALIVE_BEATS = 16;
    /// Keep-alives of all connections to a peer that may wait for their answers at once: they are due together, and a
    /// socket of Linux's default size holds some 270 small packets.
    private static final int KEEP_ALIVES_MAX = 64;
    /// Packets between two that ask for an ACK, at most.
    private static final int ASK_PACKETS_MAX = 2 * PeerWindow.RUN;
    /// Waiting for the answer to a probe doubles at most so often.
    private static final int PROBE_DOUBLINGS_MAX = 10;
    /// No ACK timeout below this: a peer in user space may have to be woken first. The standard lets a timer run
    /// up to four times its value (IBTA C9-141).
    static final long ACK_TIMEOUT_NANOS_MIN = 2_000_000;

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final HalfOwner owner;
    private final SendQueue sends;
    private final CompletionRing completions;
    private final boolean signalAll;
    private final RequestWriter writer;

    /// Oldest request that somebody has posted and that is not done.
    private long head;
    /// The same as `head`, or one less while a keep-alive is under way.
    private long oldest;

    private long current;
    private long started;
    /// Packets of `current` that this pass has sent.
    private int packet;

    private int unacked;
    private int next;
    private int sent;

    /// Of the peer; null before RTS and in ERR.
    private @Nullable PeerWindow window;
    /// It will tell us when there is room.
    private boolean waitsForRoom;
    /// It has told us, and we have not sent since.
    private boolean wasToldOfRoom;
    /// PSNs before `next` that take up room in it.
    private int charged;

    private final OutstandingReads reads = new OutstandingReads();
    /// Packets since the last that asked for an ACK.
    private int sinceAckRequest;
    /// We went back, and nothing has been acknowledged since: more NAKs of the same gap are ignored.
    private boolean recovering;
    /// The request that failed on this side and waits for those before it; -1 when there is none.
    private long failedAt = -1;
    private boolean drainedReported;

    private int retriesLeft;
    private int rnrRetriesLeft;
    private long ackDeadline = Protocol.NEVER;
    private long rnrDeadline = Protocol.NEVER;

    private long probeDeadline = Protocol.NEVER;
    /// How often waiting for an answer has doubled since a round trip was last timed (RFC 6298, 5.5 to 5.7); one less
    /// with each answer that a probe drew.
    private int doublings;
    /// A probe has been due since there was progress.
    private boolean isProbing;
    /// What is left to be sent of a probe: 2 the oldest packet and the newest, 1 the newest.
    private int probesDue;
    /// A packet whose answer is awaited by the clock, and when it was sent; [Protocol#NEVER] when there is none.
    private int timedPsn;
    private long timedNanos = Protocol.NEVER;

    /// Made when the queue pair is given a keep-alive.
    private @Nullable SendRequest keepAlive;
    /// When a packet of the peer came last, or RTS was entered.
    private long heardNanos;

    /// One has come.
    private boolean isHeard;
    private long keepAliveDeadline = Protocol.NEVER;

    Requester(
            QueuePairCore core,
            HalfOwner owner,
            RequestWriter writer,
            SendQueue sends,
            CompletionRing completions,
            boolean signalAll) {
        this.core = core;
        this.p = core.parameters;
        this.owner = owner;
        this.sends = sends;
        this.completions = completions;
        this.signalAll = signalAll;
        this.writer = writer;
    }

    // ---- life

    /// The queue pair has gone from one state to another, or something has been changed in it. What ERR needs is in
    /// [#flush].
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
        unacked = next = sent = p.sqPsn;
        window = p.windows.join(p.path.destinationHigh(), p.path.destinationLow());
        retriesLeft = p.retryCount;
        rnrRetriesLeft = p.rnrRetry;
    }

    /// RTS has been entered, or something has been changed in it.
    void armKeepAlive(long now) {
        heardNanos = now;
        if (p.keepAliveNanos == 0) {
            keepAliveDeadline = Protocol.NEVER;
            return;
        }
        if (keepAlive == null) {
            keepAlive = SendRequest.ofNoBytes(SendOperation.WRITE);
        }
        keepAliveDeadline = onTheBeat(now + p.keepAliveNanos);
    }

    /// At this time or up to a sixteenth of the keep-alive's later: so that many idle connections wake their
    /// processes together, and not one by one.
    private long onTheBeat(long nanos) {
        long beat = Math.max(1, p.keepAliveNanos / KEEP_ALIVE_BEATS);
        return Math.ceilDiv(nanos, beat) * beat;
    }

    /// The peer lives: any packet of it has come. The deadline stays, and looks at this when it comes.
    void heard(long now) {
        isHeard = true;
        heardNanos = now;
    }

    /// Everything is forgotten, nothing completes.
    private void reset() {
        stop();
        head = oldest = current = started = sends.published();
        sends.retire(head);
        packet = 0;
        isHeard = false;
    }

    /// ERR: everything that is posted completes as flushed, in order.
    void flush() {
        stop();
        while (head < sends.published()) {
            SendRequest request = sends.at(head++);
            long wrId = request.wrId;
            WcOpcode opcode = request.operation.completion();
            sends.retire(head);
            core.flush(completions, wrId, opcode);
        }
        oldest = current = started = head;
        packet = 0;
    }

    /// SQD has been entered, or something has finished in it.
    private void checkDrained() {
        if (p.state == QpState.SQD && !drainedReported && head == started) {
            drainedReported = true;
            if (p.notifyWhenDrained) {
                core.events.onAsyncEvent(AsyncEvent.Type.SQ_DRAINED);
            }
        }
    }

    /// Whether SQD is still waiting for started requests.
    boolean isDraining() {
        return p.state == QpState.SQD && head != started;
    }

    private void stop() {
        PeerWindow left = window;
        if (left != null) {
            window = null;
            left.forget(this);
            left.done(charged);
            charged = 0;
            p.windows.leave(left);
        }
        waitsForRoom = false;
        wasToldOfRoom = false;
        doublings = 0;
        timedNanos = Protocol.NEVER;
        unacked = next = sent;
        disarm();
        rnrDeadline = Protocol.NEVER;
        keepAliveDeadline = Protocol.NEVER;
        oldest = head;
        reads.clear();
        sinceAckRequest = 0;
        recovering = false;
        failedAt = -1;
    }

    // ---- departures

    boolean poll(Frame frame, long now) {
        PeerWindow way = window;
        if (way == null || !isWorking() || rnrDeadline != Protocol.NEVER) {
            return false;
        }
        while (probesDue > 0) {
            if (sendProbe(frame)) {
                return true;
            }
        }
        while (mayProceed()) {
            SendRequest request = at(current);
            if (current == started) {
                if (!mayStart(request)) {
                    return false;
                }
                if (request.operation.isLocal()) {
                    if (!executeLocal(request)) {
                        return false;
                    }
                    continue;
                }
                if (!prepare(request, way)) {
                    return false;
                }
            }
            int psns = share(request, way);
            return psns > 0 && send(request, psns, way, frame, now);
        }
        return false;
    }

    /// The request at a position from `oldest` on.
    private SendRequest at(long position) {
        SendRequest question = keepAlive;
        return position < head && question != null ? question : sends.at(position);
    }

    /// How many PSNs the next packet of `request` may take: as many as a READ asks for, else 1; 0 when it has to
    /// wait.
    private int share(SendRequest request, PeerWindow way) {
        if (current < head && way.outstanding() < KEEP_ALIVES_MAX) {
            return 1; // whether the peer lives has to be known also when losses have made the window small
        }
        if (waitsForRoom) {
            return 0;
        }
        int wanted = 1;
        if (request.operation.needsResponse()) {
            if (reads.size() >= p.readsOutstandingMax) {
                return 0;
            }
            wanted = readPsns(request, packet);
        }
        int enough = Math.min(wanted, Math.max(1, way.limit() / 2));
        if (way.room() < enough) {
            waitsForRoom = true;
            way.await(this, wasToldOfRoom);
            wasToldOfRoom = false;
            return 0;
        }
        wasToldOfRoom = false;
        // Also what is not charged any more may still be answered: no more than a window of its own.
        return way.limit() - Psn.distance(unacked, next) >= enough ? wanted : 0;
    }

    /// Takes up no more room than there are PSNs between `unacked` and `next`.
    private void settle(PeerWindow way) {
        int excess = charged - Math.max(0, Psn.distance(unacked, next));
        if (excess > 0) {
            charged -= excess;
            way.done(excess);
        }
    }

    /// How many PSNs a READ request or atomic takes that begins with packet `index`: to the end of its piece.
    private static int readPsns(SendRequest request, int index) {
        return Math.min(request.psnCount - index, request.piecePsns - index % request.piecePsns);
    }

    @Override
    public void onRoom() {
        waitsForRoom = false;
        wasToldOfRoom = true;
        core.events.onReady();
    }

    private boolean mayProceed() {
        return current < sends.published() && (failedAt < 0 || current < failedAt);
    }

    private boolean isWorking() {
        return p.state == QpState.RTS || p.state == QpState.SQD;
    }

    private boolean mayStart(SendRequest request) {
        if (p.state == QpState.SQD) {
            return false;
        }
        // A fence waits for all READs and atomics before it (IBTA 10.8.3.3); what is done on this side only waits for
        // everything, so that going back never crosses it.
        return request.operation.isLocal() ? oldest == current : !request.fenced || reads.size() == 0;
    }

    /// Looks whether the request can be sent, and how many PSNs it will take; false when it fails on this side. It
    /// may still have to wait, so this can happen again.
    private boolean prepare(SendRequest request, PeerWindow way) {
        MemoryVerdict verdict = request.isInline
                ? MemoryVerdict.OK
                : core.memory.checkLocal(request.scatter, p.protectionDomain, request.operation.needsResponse());
        if (verdict != MemoryVerdict.OK) {
            failLocally(request, current, 0, verdict);
            return false;
        }
        if (request.operation.needsResponse() && p.readsOutstandingMax == 0) {
            request.localError = WcStatus.LOC_QP_OP_ERR;
            request.localCause = "max_rd_atomic is 0: the queue pair may not have a READ or atomic outstanding";
            stall(current);
            return false;
        }
        request.psnCount = writer.psnCount(request);
        // A READ is asked for in pieces of half a window, where the peer takes two at a time, so that it always has one
        // to answer. Pieces stay as they are: only what was asked for can be asked for again (IBTA 9.7.5.1.3).
        request.piecePsns = p.readsOutstandingMax == 1 ? way.limit() : Math.max(1, way.limit() / 2);
        return true;
    }

    private boolean executeLocal(SendRequest request) {
        if (!core.executeLocal(request)) {
            stall(current);
            return false;
        }
        current = oldest = head = ++started;
        complete(request);
        return true;
    }

    private boolean send(SendRequest request, int psns, PeerWindow way, Frame frame, long now) {
        boolean last = packet + psns == request.psnCount;
        boolean ask = last || request.operation.needsResponse() || isAckWanted(way);
        MemoryVerdict verdict = writer.write(frame, request, packet, psns, next, ask);
        if (verdict != MemoryVerdict.OK) {
            failLocally(request, current, packet, verdict);
            return false;
        }
        if (current == started) {
            request.firstPsn = next;
            started++;
        }
        assert next == Psn.add(request.firstPsn, packet) : "a packet has the PSN of its place in the request";
        if (ask) {
            sinceAckRequest = 0;
            time(now);
        }
        if (request.operation.needsResponse()) {
            reads.add(Psn.add(next, psns - 1), p.readsOutstandingMax);
        }
        countKeepAlive(current);
        advance(psns, way, now);
        packet += psns;
        if (last) {
            current++;
            packet = 0;
        }
        assertOrder();
        return true;
    }

    /// Whether a packet in the middle of a message asks for an ACK. rxe and the standard's advice (IBTA 9.7.3.2) have
    /// the last packet of a message ask; we add enough in between that the window never closes without an ACK on
    /// its way.
    private boolean isAckWanted(PeerWindow way) {
        boolean closes = way.room() <= 1 || Psn.distance(unacked, next) + 1 >= way.limit();
        return closes || ++sinceAckRequest >= Math.max(1, Math.min(ASK_PACKETS_MAX, way.limit() / 2));
    }

    private void countKeepAlive(long position) {
        if (position < head) {
            core.counters.count(Counter.KEEP_ALIVES);
        }
    }

    /// Behind what has just been sent.
    private void advance(int psns, PeerWindow way, long now) {
        if (Psn.isBefore(next, sent)) {
            core.counters.count(Counter.RETRANSMITTED_PACKETS);
        }
        next = Psn.add(next, psns);
        sent = Psn.max(sent, next);
        charged += psns;
        way.sent(psns);
        if (ackDeadline == Protocol.NEVER && probeDeadline == Protocol.NEVER) {
            arm(way, now);
        }
    }

    /// Takes the time of what is about to be sent and will be answered, unless another is being timed. What is
    /// sent again is not: nobody could tell which of the two the answer is for (Karn's rule, RFC 6298, 3).
    private void time(long now) {
        if (timedNanos == Protocol.NEVER && next == sent) {
            timedPsn = next;
            timedNanos = now;
        }
    }

    /// Writes one of the packets that a probe consists of; false when there is none or it failed. The responder answers
    /// the oldest with an ACK in any case; if it has missed something, the newest is ahead of what it expects
    /// then, and is answered with a NAK (IBTA C9-115). Of a READ or atomic the oldest is enough: it has an answer
    /// of its own.
    private boolean sendProbe(Frame frame) {
        boolean isOldest = probesDue-- == 2;
        int psn = isOldest ? unacked : Psn.previous(next);
        if (next == unacked || (!isOldest && psn == unacked)) {
            return false;
        }
        long position = isOldest ? oldest : packet > 0 ? current : current - 1;
        SendRequest request = at(position);
        int index = Psn.distance(request.firstPsn, psn);
        int psns = 1;
        if (request.operation.needsResponse()) {
            probesDue = 0;
            if (!isOldest) {
                return false;
            }
            psns = readPsns(request, index);
        }
        MemoryVerdict verdict = writer.write(frame, request, index, psns, psn, true);
        if (verdict != MemoryVerdict.OK) {
            failLocally(request, position, index, verdict);
            return false;
        }
        sinceAckRequest = 0;
        timedNanos = Protocol.NEVER; // nobody could tell what is answered now, the packet or the probe (RFC 6298, 3)
        core.counters.count(Counter.RETRANSMITTED_PACKETS);
        countKeepAlive(position);
        return true;
    }

    // ---- arrivals

    PacketFate onResponse(Frame frame, Opcode opcode, long now) {
        if (!isWorking()) {
            return PacketFate.DROPPED_STATE;
        }
        int psn = Bth.psn(frame.slot, frame.start);
        if (Psn.isBefore(psn, unacked)) {
            return PacketFate.DUPLICATE;
        }
        if (!Psn.isBefore(psn, sent)) {
            return PacketFate.DROPPED_GHOST_ACK;
        }
        return switch (opcode) {
            case RC_ACKNOWLEDGE, XRC_ACKNOWLEDGE ->
                onAcknowledge(Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset()), psn, now);
            case RC_ATOMIC_ACKNOWLEDGE, XRC_ATOMIC_ACKNOWLEDGE -> onAtomicAcknowledge(frame, opcode, psn, now);
            default -> onReadResponse(frame, opcode, psn, now);
        };
    }

    private PacketFate onAcknowledge(int syndrome, int psn, long now) {
        return switch (Syndrome.kind(syndrome)) {
            case ACK -> {
                if (!acknowledge(psn, now)) {
                    impliedNak(now);
                }
                yield PacketFate.ACCEPTED;
            }
            case RNR_NAK -> onRnrNak(syndrome, psn, now);
            case NAK -> syndrome == Syndrome.NAK_SEQUENCE ? onSequenceNak(psn, now) : onFatalNak(syndrome, psn, now);
            default ->
                failHead(
                        WcStatus.BAD_RESP_ERR,
                        syndrome,
                        core.peer() + " answered PSN " + psn + " with the reserved syndrome 0x"
                                + Integer.toHexString(syndrome));
        };
    }

    /// IBTA 9.7.5.1.1: everything before the PSN has arrived, and the packet of that PSN has not.
    private PacketFate onSequenceNak(int psn, long now) {
        core.counters.count(Counter.RECEIVED_NAK_SEQUENCE);
        acknowledge(Psn.previous(psn), now);
        if (isWorking() && !recovering && rnrDeadline == Protocol.NEVER) {
            retry(now, Retransmission.SEQUENCE_NAK);
        }
        return PacketFate.ACCEPTED;
    }

    private PacketFate onRnrNak(int syndrome, int psn, long now) {
        core.counters.count(Counter.RECEIVED_NAK_RNR);
        acknowledge(Psn.previous(psn), now);
        if (!isWorking() || unacked != psn) {
            impliedNak(now);
            return PacketFate.ACCEPTED;
        }
        if (rnrDeadline != Protocol.NEVER) {
            return PacketFate.DUPLICATE;
        }
        if (p.rnrRetry != 7 && rnrRetriesLeft-- == 0) {
            return failHead(
                    WcStatus.RNR_RETRY_EXC_ERR,
                    syndrome,
                    core.peer() + " had no receive posted for PSN " + psn + ", the " + describeOldest() + ", after "
                            + p.rnrRetry + " retries");
        }
        goBack();
        // The peer answers, and that is what retries of the other kind are counted for: ibv_modify_qp(3), retry_cnt.
        retriesLeft = p.retryCount;
        disarm(); // IBTA 9.7.5.2.8: not while we wait as asked
        long wait = RnrTimer.nanos(Syndrome.value(syndrome));
        rnrDeadline = now + wait;
        core.events.onRnrNak(psn, wait, p.rnrRetry == 7 ? Integer.MAX_VALUE : rnrRetriesLeft);
        return PacketFate.ACCEPTED;
    }

    private PacketFate onFatalNak(int syndrome, int psn, long now) {
        core.counters.count(Counter.RECEIVED_NAK_FATAL);
        acknowledge(Psn.previous(psn), now);
        if (!isWorking() || (unacked != psn && !isWithinOldest(psn))) {
            impliedNak(now);
            return PacketFate.ACCEPTED;
        }
        WcStatus status = switch (syndrome) {
            case Syndrome.NAK_INVALID_REQUEST -> WcStatus.REM_INV_REQ_ERR;
            case Syndrome.NAK_REMOTE_ACCESS -> WcStatus.REM_ACCESS_ERR;
            case Syndrome.NAK_REMOTE_OPERATIONAL -> WcStatus.REM_OP_ERR;
            case Syndrome.NAK_INVALID_RD_REQUEST -> WcStatus.REM_INV_RD_REQ_ERR;
            default -> WcStatus.BAD_RESP_ERR;
        };
        return failHead(
                status,
                syndrome,
                core.peer() + " answered PSN " + psn + " with " + Syndrome.text(syndrome) + ": it refuses the "
                        + describeOldest());
    }

    private PacketFate onAtomicAcknowledge(Frame frame, Opcode opcode, int psn, long now) {
        if (!reach(psn, now)) {
            return PacketFate.DROPPED_EARLY_RESPONSE;
        }
        SendRequest request = at(oldest);
        if (!request.operation.isAtomic() || !saysAck(frame, opcode)) {
            return unexpected(opcode, psn);
        }
        // Big-endian on the wire, in this host's order in memory.
        int at = frame.start + opcode.atomicAckEthOffset();
        long original = AtomicAckEth.original(frame.slot, at);
        frame.slot.set(ValueLayout.JAVA_LONG_UNALIGNED, at, original);
        MemoryVerdict verdict = core.memory.scatter(request.scatter, p.protectionDomain, 0, frame.slot, at, Long.BYTES);
        AtomicAckEth.write(frame.slot, at, original); // whoever looks at the packet afterwards finds it as it came
        if (verdict != MemoryVerdict.OK) {
            return failHead(
                    WcStatus.LOC_PROT_ERR,
                    0,
                    "the result's " + core.memory.explain(request.scatter, p.protectionDomain, true, verdict));
        }
        progress(Psn.next(psn), now);
        finishOldest(request);
        afterProgress();
        return PacketFate.ACCEPTED;
    }

    private PacketFate onReadResponse(Frame frame, Opcode opcode, int psn, long now) {
        if (!reach(psn, now)) {
            return PacketFate.DROPPED_EARLY_RESPONSE;
        }
        SendRequest request = at(oldest);
        if (!request.operation.needsResponse() || request.operation.isAtomic() || !saysAck(frame, opcode)) {
            return unexpected(opcode, psn);
        }
        int index = Psn.distance(request.firstPsn, psn);
        long position = (long) index * p.pathMtu;
        int expected = (int) Math.min(p.pathMtu, request.bytes() - position);
        int bytes = Packet.payloadBytes(frame, opcode);
        // Position and length decide, not First, Middle or Last: soft-RoCE resumes a READ with a Middle.
        if (bytes != expected) {
            return failHead(
                    WcStatus.BAD_RESP_ERR,
                    0,
                    opcode + " at PSN " + psn + " carries " + bytes + " bytes, expected " + expected);
        }
        MemoryVerdict verdict = core.memory.scatter(
                request.scatter, p.protectionDomain, position, frame.slot, Packet.payloadOffset(frame, opcode), bytes);
        if (verdict != MemoryVerdict.OK) {
            return failHead(
                    WcStatus.LOC_PROT_ERR,
                    0,
                    "the READ's " + core.memory.explain(request.scatter, p.protectionDomain, true, verdict));
        }
        boolean last = index + 1 == request.psnCount;
        progress(Psn.next(psn), now);
        if (last) {
            finishOldest(request);
        }
        afterProgress();
        return PacketFate.ACCEPTED;
    }

    /// Acknowledges what lies before a response; false, and a retry, when an earlier response is missing.
    private boolean reach(int psn, long now) {
        acknowledge(Psn.previous(psn), now);
        if (isWorking() && unacked == psn) {
            return true;
        }
        impliedNak(now);
        return false;
    }

    /// What carries a result carries an ACK with it, where it has an AETH at all.
    private static boolean saysAck(Frame frame, Opcode opcode) {
        return opcode.aethOffset() < 0 || Syndrome.isAck(Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset()));
    }

    private PacketFate unexpected(Opcode opcode, int psn) {
        return failHead(WcStatus.BAD_RESP_ERR, 0, opcode + " answers PSN " + psn + ", which it does not fit");
    }

    // ---- acknowledgement

    /// Everything through `psn` has arrived. Stops at a READ or atomic whose response has not, and is false then.
    private boolean acknowledge(int psn, long now) {
        boolean complete = true;
        int reached = unacked;
        while (oldest < started && !Psn.isAfter(reached, psn)) {
            SendRequest request = at(oldest);
            if (request.operation.needsResponse()) {
                complete = false;
                break;
            }
            int last = Psn.add(request.firstPsn, request.psnCount - 1);
            if (Psn.isAfter(last, psn)) {
                reached = Psn.next(psn);
                break;
            }
            reached = Psn.next(last);
            finishOldest(request);
        }
        if (reached != unacked) {
            progress(reached, now);
            afterProgress();
        }
        return complete;
    }

    /// `psn` is the oldest that has no answer now. Forward progress gives all retries back (IBTA 9.7.5.1.1).
    private void progress(int psn, long now) {
        int answered = Psn.distance(unacked, psn);
        unacked = psn;
        recovering = false;
        retriesLeft = p.retryCount;
        rnrRetriesLeft = p.rnrRetry;
        rnrDeadline = Protocol.NEVER;
        reads.answeredBefore(psn);
        PeerWindow way = window;
        if (way == null) {
            return;
        }
        if (timedNanos != Protocol.NEVER && Psn.isBefore(timedPsn, psn)) {
            way.roundTrip(now - timedNanos);
            timedNanos = Protocol.NEVER;
            doublings = 0;
        } else if (isProbing) {
            doublings--; // perhaps something was lost, perhaps the peer has become slow: wait for half as long again
        }
        boolean again = isProbing;
        if (unacked == sent) {
            disarm();
        } else {
            arm(way, now);
            // What the probe has brought to light is not all: the oldest packet is another one now, and may be missing.
            probesDue = again ? 2 : 0;
        }
        way.answered(answered);
        settle(way);
    }

    /// Nobody learns of a keep-alive.
    private void finishOldest(SendRequest request) {
        oldest++;
        if (oldest > head) {
            head = oldest;
            complete(request);
        }
    }

    /// After `unacked` has moved: sending never stands before it (we had gone back, and an old answer came after
    /// all), and a request that failed on this side may have its turn.
    private void afterProgress() {
        if (Psn.isBefore(next, unacked)) {
            standAtUnacked();
        }
        if (failedAt == head) {
            failStalled();
        }
        checkDrained();
        assertOrder();
    }

    /// The positions and PSNs stand as the head of this class says.
    private void assertOrder() {
        if (window == null) {
            return; // nothing is under way
        }
        assert oldest == head || (oldest == head - 1 && keepAlive != null) : "a keep-alive is just before head";
        assert oldest <= current && current <= started && started <= sends.published() : "order of positions";
        assert !Psn.isAfter(unacked, next) && !Psn.isAfter(next, sent) : "order of PSNs";
        assert oldest < started ? isWithinOldest(unacked) : unacked == sent : "what has no answer lies in oldest";
    }

    /// The request before `head` is done.
    private void complete(SendRequest request) {
        core.complete(request, sends, head, completions, signalAll);
    }

    // ---- repair

    private void impliedNak(long now) {
        if (isWorking() && !recovering && rnrDeadline == Protocol.NEVER) {
            core.counters.count(Counter.IMPLIED_NAKS);
            retry(now, Retransmission.LOST_RESPONSE);
        }
    }

    private void retry(long now, Retransmission why) {
        if (retriesLeft == 0) {
            failHead(
                    WcStatus.RETRY_EXC_ERR,
                    0,
                    why.text(unacked) + ", the " + describeOldest() + ", after " + p.retryCount
                            + " retries with an ACK timeout of " + p.ackTimeoutNanos / 1_000 + " microseconds; "
                            + lastSignOfLife(now));
            return;
        }
        retriesLeft--;
        core.events.onRetransmission(why, unacked, retriesLeft);
        goBack();
        recovering = true;
        PeerWindow way = window;
        if (way != null) {
            way.lost(now);
            arm(way, now);
        }
    }

    /// In words.
    private String describeOldest() {
        return oldest < head ? "keep-alive" : at(oldest).describe();
    }

    private String lastSignOfLife(long now) {
        return isHeard
                ? "the last packet of " + core.peer() + " came " + (now - heardNanos) / 1_000 + " microseconds ago"
                : "nothing has ever come from " + core.peer();
    }

    private void goBack() {
        standAtUnacked();
        reads.clear();
        sinceAckRequest = 0;
        timedNanos = Protocol.NEVER;
        probesDue = 0;
        PeerWindow way = window;
        if (way != null) {
            settle(way); // what was under way is lost, or will be thrown away
        }
    }

    private void standAtUnacked() {
        current = oldest;
        next = unacked;
        packet = oldest < started ? Psn.distance(at(oldest).firstPsn, unacked) : 0;
    }

    /// Something is unacknowledged, and there has just been a sign of life, or the beginning.
    private void arm(PeerWindow way, long now) {
        ackDeadline =
                p.ackTimeoutNanos == 0 ? Protocol.NEVER : now + Math.max(p.ackTimeoutNanos, ACK_TIMEOUT_NANOS_MIN);
        isProbing = false;
        probesDue = 0;
        probeDeadline = now + (way.answerNanos() << doublings);
    }

    private void disarm() {
        ackDeadline = Protocol.NEVER;
        probeDeadline = Protocol.NEVER;
        probesDue = 0;
    }

    long deadlineNanos() {
        return Math.min(Math.min(keepAliveDeadline, probeDeadline), Math.min(ackDeadline, rnrDeadline));
    }

    void onDeadline(long now) {
        if (rnrDeadline <= now) {
            rnrDeadline = Protocol.NEVER;
        }
        PeerWindow way = window;
        if (probeDeadline <= now && way != null) {
            onLateAnswer(way, now);
        }
        if (ackDeadline <= now) {
            disarm();
            core.counters.count(Counter.ACK_TIMEOUTS);
            retry(now, Retransmission.ACK_TIMEOUT);
        }
        if (keepAliveDeadline <= now) {
            onQuiet(now);
        }
    }

    /// An answer should have come by now. What has none is not under way any more: others need not wait for it. And the
    /// peer is asked what became of it, when we know how long its answers take.
    private void onLateAnswer(PeerWindow way, long now) {
        probeDeadline = Protocol.NEVER;
        if (way.mayProbe()) {
            core.counters.count(Counter.PROBES);
            probesDue = 2;
            isProbing = true;
            doublings = Math.min(doublings + 1, PROBE_DOUBLINGS_MAX);
            probeDeadline = now + (way.answerNanos() << doublings);
        }
        int unanswered = charged;
        charged = 0;
        way.done(unanswered);
    }

    /// Perhaps nothing has come for as long as a keep-alive waits for. What is outstanding is looked after by the
    /// ACK timer.
    private void onQuiet(long now) {
        long due = heardNanos + p.keepAliveNanos;
        if (due > now) {
            keepAliveDeadline = onTheBeat(due);
            return;
        }
        keepAliveDeadline = onTheBeat(now + p.keepAliveNanos);
        if (oldest == started && isWorking()) {
            ask();
        }
    }

    /// Nothing is under way: puts a keep-alive in front of everything that is posted. It needs no key (IBTA C9-88), and
    /// every peer acknowledges it that lets itself be written to at all.
    private void ask() {
        SendRequest question = keepAlive;
        if (question == null) {
            return;
        }
        assert unacked == sent && current == started : "a keep-alive begins when nothing is under way";
        question.firstPsn = next;
        question.psnCount = 1;
        oldest = current = head - 1;
    }

    // ---- failure

    private boolean isWithinOldest(int psn) {
        if (oldest >= started) {
            return false;
        }
        SendRequest request = at(oldest);
        return Psn.isWithin(psn, request.firstPsn, request.psnCount);
    }

    /// Packet `index` of the request at `position` cannot be made: its memory is not there any more, or never was.
    private void failLocally(SendRequest request, long position, int index, MemoryVerdict verdict) {
        request.localError = WcStatus.LOC_PROT_ERR;
        request.localCause = (index == 0 ? "" : "after " + (long) index * p.pathMtu + " bytes: ")
                + core.memory.explain(request.scatter, p.protectionDomain, request.operation.needsResponse(), verdict);
        stall(position);
    }

    /// The request at `position` cannot go on; it fails when all before it are done, so that completions stay in
    /// order.
    private void stall(long position) {
        failedAt = position;
        if (failedAt == head) {
            failStalled();
        }
    }

    private void failStalled() {
        SendRequest request = sends.at(head);
        WcStatus status = request.localError;
        failHead(status == null ? WcStatus.GENERAL_ERR : status, 0, request.localCause);
    }

    /// The oldest request fails, and the connection with it. There may be none: a keep-alive is nobody's request.
    private PacketFate failHead(WcStatus status, int vendorError, String cause) {
        if (head == sends.published()) {
            owner.fail(status + " on a keep-alive: " + cause);
            return PacketFate.ACCEPTED;
        }
        SendRequest request = sends.at(head++);
        long wrId = request.wrId;
        WcOpcode opcode = request.operation.completion();
        sends.retire(head);
        core.fail(completions, wrId, status, opcode, vendorError, cause);
        owner.fail(status + " on the request with wrId " + wrId + ": " + cause);
        return PacketFate.ACCEPTED;
    }
}
