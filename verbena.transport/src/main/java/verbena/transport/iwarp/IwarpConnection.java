package verbena.transport.iwarp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.iwarp.Terminate;
import verbena.wire.iwarp.TerminateCode;

/// A reliable connection of iWARP: a [Sender] and a [Receiver] over one stream. The stream is there before the
/// queue pair is: [#start] takes it from INIT to RTS, and when the stream ends, for whatever reason, the queue
/// pair is in ERR. Engine-confined.
///
/// Nothing is ever sent again, and nothing is acknowledged: that is TCP's. A message that finds no receive makes
/// the stream wait. What is refused ends the connection, with a TERMINATE that says why.
public final class IwarpConnection implements StreamProtocol {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final OwedResponses owed = new OwedResponses();
    private final FpduWriter writer = new FpduWriter();
    private final OutstandingRequests requests;
    private final Sender sender;
    private final Receiver receiver;
    private final Receiving receiving;

    /// The initiator's first FPDU is here; a responder sends nothing before (RFC 5044 7.1.2).
    private boolean heard;
    private boolean maySend;
    private boolean finishing;

    /// The TERMINATE that is to be sent; null when there is none.
    private @Nullable TerminateCode terminate;
    /// Its payload; made with the first one.
    private @Nullable MemorySegment terminateBytes;

    private int terminateLength;

    public IwarpConnection(ProtocolParts parts) {
        this.core = new QueuePairCore(parts);
        this.p = core.parameters;
        this.receiving = new Receiving(core, parts);
        this.requests = new OutstandingRequests(core, this, parts.sends(), parts.sendCompletions(), parts.signalAll());
        this.sender = new Sender(core, this, requests, owed, writer);
        this.receiver = new Receiver(core, this, receiving, requests, owed);
    }

    // ---- life

    @Override
    public void start(StreamTerms terms, long nowNanos) {
        if (p.state != QpState.INIT) {
            return; // ended before it began; isFinished says so
        }
        p.readsServedMax = terms.ird();
        p.readsOutstandingMax = terms.ord();
        owed.start(terms.ird());
        writer.start(terms);
        sender.start(terms);
        receiver.start(terms);
        heard = false;
        maySend = terms.isInitiator();
        finishing = false;
        terminate = null;
        terminateLength = 0;
        p.state = QpState.RTS;
        core.events.onState(QpState.RTS);
    }

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        switch (to) {
            case RESET -> {
                core.rootCause = null;
                terminate = null;
                owed.clear();
                sender.reset();
                receiving.discard();
            }
            case ERR -> {
                if (from != QpState.ERR) {
                    enterError("the application moved the queue pair to ERR");
                }
            }
            case INIT, RTR, RTS, SQD, SQE -> {}
        }
    }

    /// Never: there is no SQD.
    @Override
    public boolean isDraining() {
        return false;
    }

    @Override
    public void breakDown(String cause) {
        if (p.state != QpState.RESET && p.state != QpState.ERR) {
            fail(cause);
        }
    }

    @Override
    public String rootCause() {
        String cause = core.rootCause;
        return cause == null ? "" : cause;
    }

    @Override
    public void finish(long nowNanos) {
        finishing = true;
    }

    @Override
    public boolean isFinished() {
        return p.state != QpState.RTS && terminate == null;
    }

    @Override
    public void onEnd(long nowNanos) {
        end(
                receiver.isInside()
                        ? "the peer closed the connection in the middle of a message"
                        : "the peer closed the connection");
    }

    @Override
    public void onBroken(String why, long nowNanos) {
        end(why);
    }

    private void end(String cause) {
        if (p.state == QpState.RTS) {
            fail(cause);
        }
        terminate = null;
    }

    // ---- arrivals

    @Override
    public int onBytes(StreamBuffer bytes, int from, int to, long nowNanos) {
        return isReceiving() ? receiver.onBytes(bytes, from, to) : to - from;
    }

    @Override
    public boolean isStalled() {
        return isReceiving() && receiver.isStalled();
    }

    @Override
    public void giveUp() {
        receiver.giveUp();
    }

    @Override
    public void waitNoLonger() {
        maySend = true;
    }

    @Override
    public boolean direct(StreamTarget into) {
        return receiver.direct(into);
    }

    @Override
    public void onDirect(int bytes, long nowNanos) {
        if (isReceiving()) {
            receiver.onDirect(bytes);
        }
    }

    boolean isReceiving() {
        return p.state == QpState.RTS;
    }

    /// An FPDU that fits has come.
    void heard() {
        if (!heard) {
            heard = true;
            maySend = true;
            core.events.onFirstPacket(false);
        }
    }

    /// Counts the fate of an FPDU.
    void count(PacketFate fate) {
        core.counters.count(Counter.RECEIVED_PACKETS);
        core.counters.count(fate);
    }

    // ---- departures

    @Override
    public boolean poll(StreamOutput out, long nowNanos) {
        if (terminate != null) {
            return pollTerminate(out);
        }
        if (p.state == QpState.ERR) {
            sender.flush(); // what was posted in the same moment
            receiving.flush();
            return false;
        }
        if (p.state != QpState.RTS || !maySend) {
            return false;
        }
        long before = out.total();
        if (sender.poll(out) || pollTerminate(out)) {
            core.counters.count(Counter.SENT_PACKETS);
            core.counters.add(Counter.SENT_BYTES, out.total() - before);
            return true;
        }
        if (finishing && !out.isFull() && p.state == QpState.RTS && sender.isDone()) {
            fail("the connection was closed");
        }
        return false;
    }

    /// Sends the TERMINATE, if there is one: the last that is sent at all.
    boolean pollTerminate(StreamOutput out) {
        MemorySegment bytes = terminateBytes;
        if (terminate == null || bytes == null || !writer.hasRoom(out, Ddp.UNTAGGED_BYTES, terminateLength, false)) {
            return false;
        }
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + terminateLength);
        Ddp.writeUntagged(target, at, RdmapOpcode.TERMINATE, true, 0, 1, 0);
        MemorySegment.copy(bytes, 0, target, at + Ddp.UNTAGGED_BYTES, terminateLength);
        writer.end(out);
        terminate = null;
        core.counters.count(Counter.SENT_TERMINATES);
        return true;
    }

    // ---- refusals

    /// Keeps what the next TERMINATE shows of the segment that it refuses (RFC 5040 4.8): its length, its DDP
    /// header, and its RDMAP header when it has one.
    void keepRefused(TerminateCode code, MemorySegment from, long ddp, int ddpBytes, int rdmapBytes, int payloadBytes) {
        MemorySegment bytes = terminateBytes();
        int flags = Terminate.HAS_LENGTH | Terminate.HAS_DDP | (rdmapBytes > 0 ? Terminate.HAS_RDMAP : 0);
        Terminate.write(bytes, 0, code, flags);
        Terminate.writeSegmentLength(bytes, 0, payloadBytes);
        int at = Terminate.CONTROL_BYTES + 2;
        MemorySegment.copy(from, ddp, bytes, at, ddpBytes + rdmapBytes);
        terminateLength = at + ddpBytes + rdmapBytes;
    }

    private MemorySegment terminateBytes() {
        MemorySegment bytes = terminateBytes;
        if (bytes == null) {
            bytes = Arena.ofAuto().allocate(Terminate.BYTES_MAX, Long.BYTES);
            terminateBytes = bytes;
        }
        return bytes;
    }

    /// The TERMINATE says `code`; and shows what [#keepRefused] has kept for it.
    private void terminate(TerminateCode code) {
        if (terminateLength == 0) {
            Terminate.write(terminateBytes(), 0, code, 0);
            terminateLength = Terminate.CONTROL_BYTES;
        }
        terminate = code;
    }

    /// The peer has sent what it may not. A receive in use tells of it; if there is none, an event does.
    void refuse(TerminateCode code, String cause) {
        refuse(code, AsyncEvent.Type.QP_REQ_ERR, WcStatus.REM_INV_REQ_ERR, cause);
    }

    /// The peer wants memory that it may not have, by this key.
    void refuseAccess(TerminateCode code, int key, String cause) {
        if (!core.memory.isResting(key)) {
            core.events.onAccessError();
        }
        refuse(code, AsyncEvent.Type.QP_ACCESS_ERR, WcStatus.LOC_ACCESS_ERR, cause);
    }

    private void refuse(TerminateCode code, AsyncEvent.Type event, WcStatus status, String cause) {
        if (receiving.isOpen()) {
            receiving.fail(status, cause);
        } else {
            core.events.onAsyncEvent(event);
        }
        refused(code, cause);
    }

    /// The receive in use cannot take what has come.
    void failReceive(TerminateCode code, WcStatus status, String cause) {
        receiving.fail(status, cause);
        refused(code, cause);
    }

    private void refused(TerminateCode code, String cause) {
        count(PacketFate.REFUSED);
        fail("terminated the connection, " + code + ": " + cause);
        terminate(code);
    }

    /// The answer to our oldest READ or atomic does not fit, or cannot be placed.
    void refuseAnswer(TerminateCode code, WcStatus status, String cause) {
        count(PacketFate.REFUSED);
        if (requests.awaitsRtr()) {
            core.events.onAsyncEvent(AsyncEvent.Type.QP_REQ_ERR);
            fail("terminated the connection, " + code + ": " + cause);
        } else {
            requests.failHead(status, 0, cause);
        }
        terminate(code);
    }

    /// A READ of the peer that was accepted cannot be answered any more.
    void refuseRead(OwedResponses.Response answer, MemoryVerdict verdict, long source, int bytes) {
        TerminateCode code = Refusals.code(verdict, source, bytes);
        MemorySegment shown = Arena.ofAuto().allocate(Ddp.UNTAGGED_BYTES + ReadRequest.BYTES);
        Ddp.writeUntagged(shown, 0, RdmapOpcode.READ_REQUEST, true, 0, answer.msn, 0);
        ReadRequest.write(
                shown,
                Ddp.UNTAGGED_BYTES,
                answer.sinkStag,
                answer.sinkOffset,
                answer.bytes,
                answer.sourceStag,
                answer.sourceOffset);
        keepRefused(code, shown, 0, Ddp.UNTAGGED_BYTES, ReadRequest.BYTES, 0);
        core.events.onAsyncEvent(AsyncEvent.Type.QP_ACCESS_ERR);
        fail("terminated the connection, " + code + ": the peer's READ of " + answer.bytes + " bytes with STag 0x"
                + Integer.toHexString(answer.sourceStag) + ": " + verdict.explanation());
        terminate(code);
    }

    /// A request of our own has failed on this side.
    void terminateLocally() {
        terminate(TerminateCode.LOCAL_CATASTROPHIC);
    }

    /// The peer has terminated the connection.
    ///
    /// @param code null when it is none that we know
    /// @param number layer, type and code as it said them
    /// @param request the number of the READ or atomic of ours that it is about; 0 when it is about none
    void onTerminate(@Nullable TerminateCode code, int number, int request, String cause) {
        core.counters.count(Counter.RECEIVED_TERMINATES);
        count(PacketFate.ACCEPTED);
        WcStatus status = status(code);
        if (requests.failRequest(request, status, number, cause)) {
            return;
        }
        core.events.onAsyncEvent(AsyncEvent.Type.QP_FATAL); // what it is about has completed long ago
        fail(cause);
    }

    /// The status of a READ or atomic that the peer has refused.
    private static WcStatus status(@Nullable TerminateCode code) {
        if (code == null) {
            return WcStatus.REM_OP_ERR;
        }
        return switch (code) {
            case INVALID_STAG,
                    BOUNDS,
                    ACCESS,
                    STAG_NOT_ASSOCIATED,
                    OFFSET_WRAP,
                    PROTECTION_UNSPECIFIED,
                    TAGGED_INVALID_STAG,
                    TAGGED_BOUNDS,
                    TAGGED_NOT_ASSOCIATED,
                    TAGGED_OFFSET_WRAP -> WcStatus.REM_ACCESS_ERR;
            case CANNOT_INVALIDATE,
                    RDMAP_VERSION,
                    UNEXPECTED_OPCODE,
                    OPERATION_UNSPECIFIED,
                    TAGGED_VERSION,
                    UNTAGGED_QUEUE,
                    UNTAGGED_NO_BUFFER,
                    UNTAGGED_MSN_RANGE,
                    UNTAGGED_OFFSET,
                    UNTAGGED_TOO_LONG,
                    UNTAGGED_VERSION,
                    START_UP,
                    INSUFFICIENT_IRD,
                    NO_MATCHING_RTR -> WcStatus.REM_INV_REQ_ERR;
            case LOCAL_CATASTROPHIC,
                    CATASTROPHIC_STREAM,
                    CATASTROPHIC_GLOBAL,
                    DDP_CATASTROPHIC,
                    STREAM_LOST,
                    CRC,
                    FRAMING,
                    MPA_CATASTROPHIC -> WcStatus.REM_OP_ERR;
        };
    }

    /// The connection cannot go on.
    void fail(String cause) {
        core.enter(QpState.ERR, cause);
        enterError(cause);
    }

    private void enterError(String cause) {
        if (core.rootCause == null) {
            core.rootCause = cause;
        }
        terminate = null;
        owed.clear();
        sender.flush();
        receiving.flush();
        if (receiving.isShared()) {
            core.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
        }
    }
}
