package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.AsyncEvent;
import verbena.verbs.WcStatus;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.Terminate;
import verbena.wire.iwarp.TerminateCode;

/// The peer's answers to READs and atomics of this side: results, or a TERMINATE (RFC 5040 4.8). Engine-confined.
final class PeerResponses {
    private final QueuePairCore core;
    private final Termination termination;
    private final Segment segment;
    private final ArrivingMessages messages;
    private final Refusals refusals;
    private final OutstandingRequests outstanding;

    PeerResponses(
            QueuePairCore core,
            Termination termination,
            Segment segment,
            ArrivingMessages messages,
            Refusals refusals,
            OutstandingRequests outstanding) {
        this.core = core;
        this.termination = termination;
        this.segment = segment;
        this.messages = messages;
        this.refusals = refusals;
        this.outstanding = outstanding;
    }

    /// Returns whether a segment of a READ's answer may be placed.
    boolean mayRespond() {
        if (!outstanding.awaitsRead()) {
            return refusals.refuse(TerminateCode.UNEXPECTED_OPCODE, "the answer to a READ that was not asked for");
        }
        segment.stag = Ddp.stag(segment.in, segment.header);
        segment.address = Ddp.taggedOffset(segment.in, segment.header);
        if (segment.stag != outstanding.expectedStag()) {
            return refusals.refuseAnswer(
                    TerminateCode.TAGGED_INVALID_STAG,
                    "the answer to a READ names STag 0x" + Integer.toHexString(segment.stag) + ", expected 0x"
                            + Integer.toHexString(outstanding.expectedStag()));
        }
        long missing = outstanding.missing();
        if (segment.address != outstanding.expectedOffset()
                || segment.payloadLeft > missing
                || segment.isLast != (segment.payloadLeft == missing)) {
            return refusals.refuseAnswer(
                    TerminateCode.TAGGED_BOUNDS,
                    "the answer to a READ has " + segment.payloadLeft + " bytes at 0x"
                            + Long.toHexString(segment.address) + (segment.isLast ? ", its last" : "")
                            + "; expected are " + missing + " at 0x"
                            + Long.toHexString(outstanding.expectedOffset()));
        }
        return true;
    }

    boolean onAtomic() {
        MemorySegment in = segment.in;
        int payload = segment.payload();
        if (!outstanding.awaitsAtomic()) {
            return refusals.refuse(TerminateCode.UNEXPECTED_OPCODE, "the answer to an atomic that was not asked for");
        }
        if (!outstanding.isExpected(AtomicResponse.identifier(in, payload))) {
            return refusals.refuseAnswer(
                    TerminateCode.OPERATION_UNSPECIFIED,
                    "the answer to an atomic names request " + AtomicResponse.identifier(in, payload)
                            + ", which is not the oldest");
        }
        messages.takeMsn(Ddp.QUEUE_ATOMIC_RESPONSE);
        long original = AtomicResponse.original(in, payload);
        in.set(ValueLayout.JAVA_LONG_UNALIGNED, payload, original); // in this host's order
        MemoryVerdict verdict = outstanding.atomicAnswered(in, payload);
        if (verdict != MemoryVerdict.OK) {
            outstanding.refuseAnswer(
                    TerminateCode.DDP_CATASTROPHIC,
                    WcStatus.LOC_PROT_ERR,
                    "the atomic's result: " + verdict.explanation());
            return false;
        }
        return true;
    }

    /// Handles a TERMINATE. Nothing is received after it.
    boolean onTerminate() {
        MemorySegment in = segment.in;
        int payload = segment.payload();
        if (segment.payloadLeft < Terminate.CONTROL_BYTES) {
            onTerminate(null, 0, 0, "the peer terminated the connection and did not say why");
            return false;
        }
        int layer = Terminate.layer(in, payload);
        int type = Terminate.type(in, payload);
        int number = Terminate.code(in, payload);
        TerminateCode code = TerminateCode.of(layer, type, number);
        onTerminate(
                code,
                layer << 12 | type << 8 | number,
                refusedRequest(in, payload, segment.payloadLeft),
                "the peer terminated the connection: "
                        + (code == null
                                ? "layer " + layer + ", type " + type + ", code " + number
                                : code.explanation() + " (" + code + ")"));
        return false;
    }

    /// Returns the number, in its queue, of the READ or atomic of this side that a TERMINATE is about; 0 when it
    /// shows none.
    private int refusedRequest(MemorySegment in, int payload, int bytes) {
        int flags = Terminate.flags(in, payload);
        int ddp = Terminate.ddpOffset(in, payload);
        if ((flags & Terminate.HAS_DDP) == 0
                || bytes < ddp + Ddp.UNTAGGED_BYTES
                || Ddp.isTagged(in, payload + ddp)
                || Ddp.queue(in, payload + ddp) != Ddp.QUEUE_REQUEST) {
            return 0;
        }
        int read = ddp + Ddp.UNTAGGED_BYTES;
        boolean showsRead = (flags & Terminate.HAS_RDMAP) != 0
                && bytes == read + ReadRequest.BYTES
                && Ddp.opcode(in, payload + ddp) == RdmapOpcode.READ_REQUEST.code();
        // Soft-iWARP shows something else in the place of the number.
        return showsRead
                ? outstanding.numberOfRead(
                        ReadRequest.sinkStag(in, payload + read), ReadRequest.sinkOffset(in, payload + read))
                : Ddp.msn(in, payload + ddp);
    }

    /// Handles the end of the connection by the peer's TERMINATE.
    ///
    /// @param code null when it is none that we know
    /// @param number layer, type and code as the TERMINATE has them
    /// @param request the number of the READ or atomic of ours that it is about; 0 when it is about none
    private void onTerminate(@Nullable TerminateCode code, int number, int request, String cause) {
        core.counters.count(Counter.RECEIVED_TERMINATES);
        termination.count(PacketFate.ACCEPTED);
        WcStatus status = status(code);
        if (outstanding.failRequest(request, status, number, cause)) {
            return;
        }
        core.events.onAsyncEvent(AsyncEvent.Type.QP_FATAL); // what it is about has completed long ago
        termination.fail(cause);
    }

    /// Returns the status of a READ or atomic that the peer has refused.
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
}
