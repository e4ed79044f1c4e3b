package verbena.transport.rc;

import java.lang.foreign.ValueLayout;
import verbena.transport.Counter;
import verbena.transport.InboundMessage;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// The receiving half of a reliable connection (IBTA 9.7.4, 9.7.5 and 9.9.3). A request goes down the standard's
/// [Checklist] and is carried out ([#execute]). Each step returns a [Verdict], and [#conclude] turns the first that
/// is not [Verdict#ACCEPTED] into a NAK, a completion, an event and the state ERR.
///
/// Responses leave in the order of their requests ([OwedResponses]). What a duplicate may ask for again is in
/// [ResponderResources].
final class Responder {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final HalfOwner owner;
    /// The receive of a SEND, and of a WRITE with immediate from its last packet on.
    private final Receiving receive;

    private final ResponseWriter writer;

    /// The PSN that comes next.
    private int expected;
    /// Messages completed.
    private int msn;
    /// Whether a NAK for the gap at `expected` has been sent; packets ahead of it are dropped in silence.
    private boolean gapReported;
    private boolean established;
    /// Whether a packet that fits has come since RTR.
    private boolean heard;

    private final Checklist checklist;
    private final InboundMessage message;
    private final OwedResponses owed;
    private final ResponderResources resources = new ResponderResources();
    private final Replays replays;
    /// The packets that have come ahead of a gap, where the peer knows that they may be kept.
    private final EarlyPackets early;

    /// @param transport of the packets, which have the same operations on all that are reliable and connected
    Responder(QueuePairCore core, Transport transport, HalfOwner owner, Receiving receive, Checklist checklist) {
        this.core = core;
        this.p = core.parameters;
        this.owner = owner;
        this.receive = receive;
        this.checklist = checklist;
        this.message = checklist.message;
        this.owed = checklist.owed;
        this.writer = new ResponseWriter(core, transport);
        this.replays = new Replays(p, owed, resources);
        this.early = new EarlyPackets(p);
    }

    // ---- life

    /// Handles a change to the state `to`, or a change within it. The work for ERR is in [#flush].
    void onModified(QpState to) {
        switch (to) {
            case RESET -> reset();
            case RTR -> start();
            case SQD -> resize();
            case INIT, RTS, SQE, ERR -> {}
        }
    }

    private void start() {
        expected = p.rqPsn;
        msn = 0;
        gapReported = false;
        established = false;
        heard = false;
        resize();
    }

    /// Makes room for the number of READs that the peer may have outstanding, which is set or has changed.
    private void resize() {
        if (resources.resize(Math.max(1, p.readsServedMax))) {
            // Between two READs there is at most one merged ACK, and at the end a NAK; as much again for duplicates.
            owed.resize(4 * p.readsServedMax + 4);
        }
    }

    /// Forgets everything, and completes nothing.
    private void reset() {
        message.end();
        owed.clear();
        early.clear();
        resources.clear();
        receive.discard();
    }

    /// Completes a receive in use and all that are posted as flushed, in order (ERR). Owed responses, with a NAK at
    /// their end, still go out, but for [#dropResponses].
    void flush() {
        message.end();
        early.clear();
        receive.flush();
    }

    /// Drops all responses that are owed.
    void dropResponses() {
        owed.clear();
    }

    // ---- arrivals

    PacketFate onRequest(Frame frame, Opcode opcode) {
        if (p.state != QpState.RTR && p.state != QpState.RTS && p.state != QpState.SQD) {
            return PacketFate.DROPPED_STATE;
        }
        if (p.state == QpState.RTR && !established) {
            established = true;
            core.events.onAsyncEvent(AsyncEvent.Type.COMM_EST);
        }
        int psn = Bth.psn(frame.slot, frame.start);
        int ahead = Psn.distance(expected, psn);
        if (ahead > 0) {
            return onGap(frame, psn);
        }
        if (ahead < 0) {
            return onDuplicate(frame, opcode, psn);
        }
        PacketFate fate = onExpected(frame, opcode, psn);
        if (!early.isEmpty() && fate == PacketFate.ACCEPTED) {
            followUp();
        }
        return fate;
    }

    /// Takes the packets that wait behind a gap, which has perhaps been filled.
    private void followUp() {
        PacketFate fate = PacketFate.ACCEPTED;
        int first = expected;
        for (Frame kept = early.take(first); kept != null; kept = early.take(expected)) {
            fate = onExpected(kept, Packet.opcode(kept), expected);
            early.giveBack(kept);
            if (fate != PacketFate.ACCEPTED) {
                return;
            }
        }
        if (!early.isEmpty()) {
            early.tell();
        } else if (expected != first) {
            acknowledge(Syndrome.ACK, Psn.previous(expected));
        }
    }

    /// Handles a gap: sends a NAK of the expected PSN, once per gap (IBTA C9-115). A peer that supports it gets a
    /// report of the kept packets in its place.
    private PacketFate onGap(Frame frame, int psn) {
        if (p.repeatsRequests && !gapReported) {
            if (early.has(psn, expected)) {
                early.tell();
                return PacketFate.DUPLICATE;
            }
            if (early.keep(frame, psn, expected)) {
                core.counters.count(Counter.EARLY_REQUESTS);
                return PacketFate.OUT_OF_SEQUENCE;
            }
        }
        if (!gapReported && acknowledge(Syndrome.NAK_SEQUENCE, expected)) {
            gapReported = true;
            core.counters.count(Counter.SENT_NAK_SEQUENCE);
        }
        return PacketFate.OUT_OF_SEQUENCE;
    }

    private PacketFate onExpected(Frame frame, Opcode opcode, int psn) {
        if (!heard) {
            heard = true;
            core.events.onFirstPacket(false);
        }
        Verdict verdict = checklist.check(frame, opcode);
        if (verdict == Verdict.ACCEPTED) {
            verdict = execute(frame, opcode, psn);
        }
        return conclude(verdict, psn);
    }

    // ---- carrying out

    /// Carries out a request that has passed all checks. Its memory may have been withdrawn a moment ago.
    private Verdict execute(Frame frame, Opcode opcode, int psn) {
        if (opcode.isSend()) {
            return receiveSend(frame, opcode, psn);
        }
        if (opcode.isWrite()) {
            return receiveWrite(frame, opcode, psn);
        }
        if (opcode.isRead()) {
            return serveRead(psn);
        }
        if (opcode.isAtomic()) {
            return serveAtomic(frame, opcode, psn);
        }
        return opcode.isAtomicWrite() ? serveAtomicWrite(frame, opcode, psn) : serveFlush(frame, opcode, psn);
    }

    private Verdict receiveSend(Frame frame, Opcode opcode, int psn) {
        int payload = Packet.payloadBytes(frame, opcode);
        MemoryVerdict verdict = core.memory.scatter(
                receive.scatter(),
                p.receiveDomain(),
                message.placed(),
                frame.slot,
                Packet.payloadOffset(frame, opcode),
                payload);
        if (verdict != MemoryVerdict.OK) {
            return checklist.because(
                    Verdict.BAD_RECEIVE,
                    "the receive's " + core.memory.explain(receive.scatter(), p.receiveDomain(), true, verdict));
        }
        if (opcode.hasInvalidate()) {
            int key = Ieth.rkey(frame.slot, frame.start + opcode.iethOffset());
            MemoryVerdict withdrawn = core.memory.invalidate(key, p.protectionDomain, p.qpn);
            if (withdrawn != MemoryVerdict.OK) {
                checklist.suspect(withdrawn, key);
                return checklist.because(
                        Verdict.NOT_WITHDRAWN,
                        "SEND with invalidate of key 0x" + Integer.toHexString(key) + ": " + withdrawn.explanation());
            }
        }
        message.place(opcode, payload);
        if (opcode.endsMessage()) {
            receive.complete(frame, opcode, WcOpcode.RECV, message.placed());
            msn = Psn.next(msn);
        }
        return take(frame, psn);
    }

    private Verdict receiveWrite(Frame frame, Opcode opcode, int psn) {
        int payload = Packet.payloadBytes(frame, opcode);
        if (payload > 0) {
            long at = message.address() + message.placed();
            MemoryVerdict verdict = core.memory.write(
                    message.rkey(),
                    p.protectionDomain,
                    p.qpn,
                    at,
                    frame.slot,
                    Packet.payloadOffset(frame, opcode),
                    payload,
                    Access.REMOTE_WRITE.bit());
            if (verdict != MemoryVerdict.OK) {
                return checklist.noAccess(opcode, verdict, message.rkey(), at, payload);
            }
        }
        message.place(opcode, payload);
        if (opcode.hasImmediate()) {
            receive.complete(frame, opcode, WcOpcode.RECV_RDMA_WITH_IMM, message.bytes());
        }
        if (opcode.endsMessage()) {
            msn = Psn.next(msn);
        }
        return take(frame, psn);
    }

    private Verdict serveRead(int psn) {
        var resource = takeResource(ResponseKind.READ, psn, Psn.count(message.bytes(), p.pathMtu));
        resource.address = message.address();
        resource.bytes = message.bytes();
        resource.rkey = message.rkey();
        resource.protectionDomain = p.protectionDomain;
        owed.addRead(resource, psn, resource.psnCount, resource.address, resource.bytes, msn);
        return Verdict.ACCEPTED;
    }

    private Verdict serveAtomic(Frame frame, Opcode opcode, int psn) {
        int eth = frame.start + opcode.atomicEthOffset();
        long operand = AtomicEth.swapOrAdd(frame.slot, eth);
        MemoryVerdict verdict = opcode.operation() == Operation.FETCH_ADD
                ? core.memory.fetchAdd(message.rkey(), message.address(), operand)
                : core.memory.compareSwap(
                        message.rkey(), message.address(), AtomicEth.compare(frame.slot, eth), operand);
        if (verdict != MemoryVerdict.OK) {
            return checklist.noAccess(opcode, verdict, message.rkey(), message.address(), Long.BYTES);
        }
        var resource = takeResource(ResponseKind.ATOMIC, psn, 1);
        resource.original = core.memory.original();
        owed.addResult(resource, msn);
        return Verdict.ACCEPTED;
    }

    private Verdict serveAtomicWrite(Frame frame, Opcode opcode, int psn) {
        long value = frame.slot.get(ValueLayout.JAVA_LONG_UNALIGNED, Packet.payloadOffset(frame, opcode));
        MemoryVerdict verdict = core.memory.atomicWrite(message.rkey(), message.address(), value);
        if (verdict != MemoryVerdict.OK) {
            return checklist.noAccess(opcode, verdict, message.rkey(), message.address(), Long.BYTES);
        }
        owed.addResult(takeResource(ResponseKind.EMPTY, psn, 1), msn);
        return Verdict.ACCEPTED;
    }

    /// Serves a FLUSH. Everything before it has been placed, because that happens on arrival; only the flush is
    /// left.
    private Verdict serveFlush(Frame frame, Opcode opcode, int psn) {
        assert opcode.isFlush() : "the last of the requests";
        int feth = frame.start + opcode.fethOffset();
        MemoryVerdict verdict = core.memory.flush(
                message.rkey(),
                p.protectionDomain,
                p.qpn,
                message.address(),
                message.bytes(),
                Feth.selectivity(frame.slot, feth) == Feth.WHOLE_REGION,
                Checklist.flushRight(Feth.placement(frame.slot, feth)));
        if (verdict != MemoryVerdict.OK) {
            return checklist.noAccess(opcode, verdict, message.rkey(), message.address(), message.bytes());
        }
        owed.addResult(takeResource(ResponseKind.EMPTY, psn, 1), msn);
        return Verdict.ACCEPTED;
    }

    /// Takes a packet of a SEND or WRITE; it is acknowledged when it asks for that.
    private Verdict take(Frame frame, int psn) {
        gapReported = false;
        expected = Psn.next(psn);
        if (Bth.ackRequest(frame.slot, frame.start)) {
            acknowledge(Syndrome.ACK, psn);
        }
        return Verdict.ACCEPTED;
    }

    /// Takes a resource for a request that has been carried out, takes `psnCount` PSNs and has a response of its
    /// own.
    private ResponderResources.Resource takeResource(ResponseKind kind, int psn, int psnCount) {
        gapReported = false;
        expected = Psn.add(psn, psnCount);
        msn = Psn.next(msn);
        return resources.take(kind, psn, psnCount);
    }

    /// Adds an acknowledgement; returns false when there is no room for it.
    private boolean acknowledge(int syndrome, int psn) {
        return owed.acknowledge(syndrome, psn, msn);
    }

    // ---- duplicates (IBTA 9.7.5.1.3)

    private PacketFate onDuplicate(Frame frame, Opcode opcode, int psn) {
        if (!owed.hasRoom(OwedResponses.OF_A_REQUEST)) {
            return PacketFate.DROPPED_BUSY;
        }
        if (opcode.isRead()) {
            return replays.read(frame, opcode, psn, msn);
        }
        if (opcode.isAtomic()) {
            return replays.result(ResponseKind.ATOMIC, psn, msn);
        }
        if (opcode.isAtomicWrite() || opcode.isFlush()) {
            return replays.result(ResponseKind.EMPTY, psn, msn);
        }
        // Not carried out again; the newest acknowledgement says more than one of its own would.
        if (early.isEmpty() || gapReported) {
            acknowledge(Syndrome.ACK, Psn.previous(expected));
        } else {
            early.tell();
        }
        return PacketFate.DUPLICATE;
    }

    // ---- verdicts

    /// Draws the consequences of a verdict on the request with this PSN: the NAK, and the end of a receive in use.
    private PacketFate conclude(Verdict verdict, int psn) {
        return switch (verdict) {
            case ACCEPTED -> PacketFate.ACCEPTED;
            case BUSY -> PacketFate.DROPPED_BUSY;
            case NOT_READY -> notReady(psn);
            case INVALID_REQUEST -> refuse(psn, Syndrome.NAK_INVALID_REQUEST, WcStatus.REM_INV_REQ_ERR);
            case TOO_LONG -> refuse(psn, Syndrome.NAK_INVALID_REQUEST, WcStatus.LOC_LEN_ERR);
            case NO_ACCESS -> refuse(psn, Syndrome.NAK_REMOTE_ACCESS, WcStatus.LOC_ACCESS_ERR);
            case NO_QUEUE -> refuse(psn, Syndrome.NAK_REMOTE_ACCESS, WcStatus.REM_INV_REQ_ERR);
            case BAD_RECEIVE -> refuse(psn, Syndrome.NAK_REMOTE_OPERATIONAL, WcStatus.LOC_PROT_ERR);
            case NOT_WITHDRAWN -> endInSilence(psn);
        };
    }

    /// Sends an RNR NAK (IBTA 9.7.5.2.8): the PSN stays expected, and the packets behind it are dropped in silence.
    private PacketFate notReady(int psn) {
        if (acknowledge(Syndrome.rnrNak(p.minRnrTimerCode), psn)) {
            core.counters.count(Counter.SENT_NAK_RNR);
        }
        gapReported = true;
        return PacketFate.RECEIVER_NOT_READY;
    }

    /// Refuses the request by a NAK and ends the connection (IBTA 9.9.3.1, fault classes B to D). A receive in use
    /// completes with this error; if there is none, an event is raised.
    private PacketFate refuse(int psn, int syndrome, WcStatus status) {
        // One that is in ERR already had a response to send: what ended the connection has been told.
        boolean ends = p.state != QpState.ERR;
        if (ends) {
            owner.enterError(refusal(psn));
        }
        boolean told = receive.isOpen();
        if (told) {
            receive.fail(status, checklist.cause());
        }
        acknowledge(syndrome, psn);
        core.counters.count(ResponseWriter.counterOf(syndrome));
        if (ends && !told) {
            core.events.onAsyncEvent(
                    syndrome == Syndrome.NAK_REMOTE_ACCESS
                            ? AsyncEvent.Type.QP_ACCESS_ERR
                            : AsyncEvent.Type.QP_REQ_ERR);
        }
        if (ends) {
            owner.flush();
        }
        return PacketFate.REFUSED;
    }

    /// Handles fault class J, which only SEND with invalidate has (IBTA 9.9.3.1): the receive ends with an error
    /// and the queue pair in ERR; no NAK is sent, nor an ACK (decision 05).
    private PacketFate endInSilence(int psn) {
        owner.enterError(refusal(psn));
        receive.fail(WcStatus.REM_INV_REQ_ERR, checklist.cause());
        owner.flush();
        return PacketFate.REFUSED;
    }

    private String refusal(int psn) {
        return "refused the peer's request with PSN " + psn + ": " + checklist.cause();
    }

    /// Returns the PSN that comes next.
    int expected() {
        return expected;
    }

    /// Returns whether no message of the peer has begun by packets and not ended.
    boolean isFree() {
        return !message.isOpen() && early.isEmpty();
    }

    // ---- departures

    /// Returns whether the next packet reports what is kept behind a gap. It does not while the peer sends
    /// everything again.
    private boolean tellsEarly() {
        return !gapReported && early.hasNews();
    }

    /// Returns whether the next packet brings data that the peer has asked for.
    boolean owesData() {
        return !tellsEarly() && !owed.isEmpty() && owed.first().kind == ResponseKind.READ;
    }

    boolean poll(Frame frame) {
        if (tellsEarly()) {
            writer.writeSelective(frame, expected, msn, early);
            core.counters.count(Counter.SENT_NAK_SEQUENCE);
            return true;
        }
        while (!owed.isEmpty()) {
            var response = owed.first();
            MemoryVerdict verdict = writer.write(frame, response);
            if (verdict == MemoryVerdict.OK) {
                sent(response);
                return true;
            }
            // Withdrawn since the request was accepted: the response ends here, with a NAK (IBTA 9.7.5.2.4).
            int psn = Psn.add(response.psn, response.packet);
            long position = (long) response.packet * p.pathMtu;
            long bytes = Math.min(p.pathMtu, response.bytes - position);
            owed.clear();
            conclude(checklist.noAccess("READ", verdict, response.rkey, response.address + position, bytes), psn);
        }
        return false;
    }

    private void sent(OwedResponses.Response response) {
        response.packet++;
        if (response.kind == ResponseKind.ACKNOWLEDGE && response.syndrome == Syndrome.ACK) {
            core.counters.count(Counter.SENT_ACKS);
        }
        if (response.isSent()) {
            owed.removeFirst();
        }
    }
}
