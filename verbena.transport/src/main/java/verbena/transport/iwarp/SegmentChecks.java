package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.CompletionAccess;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.ImmediateData;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.TerminateCode;

/// The standards' checklist for a segment whose FPDU is sound. First come version, queue, number, offset (RFC 5041)
/// and opcode ([#fits]), then what the opcode asks for, key and rights (RFC 5040, [#mayPlace]). Engine-confined.
final class SegmentChecks {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Receiving receive;
    private final Segment segment;
    private final ArrivingMessages messages;
    private final Refusals refusals;
    private final PeerRequests requests;
    private final PeerResponses answers;

    SegmentChecks(
            QueuePairCore core,
            Receiving receive,
            Segment segment,
            ArrivingMessages messages,
            Refusals refusals,
            PeerRequests requests,
            PeerResponses answers) {
        this.core = core;
        this.p = core.parameters;
        this.receive = receive;
        this.segment = segment;
        this.messages = messages;
        this.refusals = refusals;
        this.requests = requests;
        this.answers = answers;
    }

    // ---- the header

    /// Returns whether the segment may come now, whatever it asks for. Sets its opcode.
    boolean fits() {
        MemorySegment in = segment.in;
        int at = segment.header;
        boolean tagged = segment.isTagged;
        RdmapOpcode code = RdmapOpcode.of(Ddp.opcode(in, at));
        if (Ddp.version(in, at) != Ddp.VERSION) {
            return refusals.refuse(
                    tagged ? TerminateCode.TAGGED_VERSION : TerminateCode.UNTAGGED_VERSION,
                    "version " + Ddp.version(in, at) + " of DDP");
        }
        if (!tagged && !fitsQueue(code)) {
            return false;
        }
        if (Ddp.rdmapVersion(in, at) != Ddp.RDMAP_VERSION) {
            return refusals.refuse(TerminateCode.RDMAP_VERSION, "version " + Ddp.rdmapVersion(in, at) + " of RDMAP");
        }
        if (code == null || code.isTagged() != tagged) {
            return refusals.refuse(
                    TerminateCode.UNEXPECTED_OPCODE,
                    "opcode " + Ddp.opcode(in, at) + (tagged ? " in a tagged segment" : " in an untagged segment"));
        }
        segment.opcode = code;
        return true;
    }

    /// Returns whether there is such a queue, the number is the next one, and the offset is where the message
    /// stands (RFC 5041 7.1). An opcode that is not defined has no queue of its own.
    private boolean fitsQueue(@Nullable RdmapOpcode code) {
        int queue = Ddp.queue(segment.in, segment.header);
        int msn = Ddp.msn(segment.in, segment.header);
        long offset = Ddp.messageOffset(segment.in, segment.header);
        boolean exists = queue >= 0 && queue < ArrivingMessages.UNTAGGED_QUEUES;
        if (!exists || (code != null && !code.isTagged() && code.queue() != queue)) {
            return refusals.refuse(TerminateCode.UNTAGGED_QUEUE, "queue " + Integer.toUnsignedString(queue));
        }
        if (msn != messages.expectedMsn(queue)) {
            return refusals.refuse(
                    TerminateCode.UNTAGGED_MSN_RANGE,
                    "number " + Integer.toUnsignedString(msn) + " in queue " + queue + ", expected "
                            + Integer.toUnsignedString(messages.expectedMsn(queue)));
        }
        long expected = messages.expectedOffset(queue);
        return offset == expected
                || refusals.refuse(
                        TerminateCode.UNTAGGED_OFFSET, "message offset " + offset + ", expected " + expected);
    }

    // ---- what it asks for

    /// Returns whether the segment may be placed, or has been carried out.
    boolean mayPlace() {
        return switch (segment.opcode) {
            case WRITE -> mayWrite();
            case READ_RESPONSE -> answers.mayRespond();
            case SEND, SEND_INVALIDATE, SEND_SOLICITED, SEND_SOLICITED_INVALIDATE -> maySend();
            case IMMEDIATE, IMMEDIATE_SOLICITED -> onImmediate();
            case READ_REQUEST -> isWhole(ReadRequest.BYTES) && requests.onRead();
            case ATOMIC_REQUEST -> isWhole(AtomicRequest.BYTES) && requests.onAtomic();
            case ATOMIC_RESPONSE -> isWhole(AtomicResponse.BYTES) && answers.onAtomic();
            case TERMINATE -> answers.onTerminate();
        };
    }

    private boolean mayWrite() {
        segment.stag = Ddp.stag(segment.in, segment.header);
        segment.address = Ddp.taggedOffset(segment.in, segment.header);
        if (messages.writeComplete) {
            messages.writeComplete = false;
            messages.written = 0;
        }
        int bytes = segment.payloadLeft;
        if (bytes == 0) {
            return true; // names no memory
        }
        int right = Access.REMOTE_WRITE.bit();
        MemoryVerdict verdict = (p.access & right) == 0
                ? MemoryVerdict.NO_RIGHT
                : core.memory.checkRemote(segment.stag, p.protectionDomain, p.qpn, segment.address, bytes, right);
        return verdict == MemoryVerdict.OK
                || refusals.refuseAccess(
                        Refusals.taggedCode(verdict, segment.address, bytes),
                        segment.stag,
                        Refusals.access("WRITE", bytes, segment.address, segment.stag, verdict));
    }

    private boolean maySend() {
        if (messages.isRtrSend(segment)) {
            return true; // the first of all messages
        }
        messages.awaitsRtrSend = false;
        if (messages.sending == null) {
            if (!receive.open()) {
                return withoutReceive();
            }
            messages.received = 0;
            MemoryVerdict verdict = core.memory.checkLocal(receive.scatter(), p.receiveDomain(), true);
            if (verdict != MemoryVerdict.OK) {
                return refusals.failReceive(
                        TerminateCode.DDP_CATASTROPHIC,
                        WcStatus.LOC_PROT_ERR,
                        "a scatter entry: " + verdict.explanation());
            }
        } else if (messages.sending != segment.opcode) {
            return goesOnWrongly();
        }
        messages.sending = segment.opcode;
        long bytes = messages.received + segment.payloadLeft;
        if (bytes > receive.scatter().bytes) {
            return refusals.failReceive(
                    TerminateCode.UNTAGGED_TOO_LONG,
                    WcStatus.LOC_LEN_ERR,
                    "a message of at least " + bytes + " bytes for a receive of " + receive.scatter().bytes);
        }
        segment.stag = Ddp.invalidateStag(segment.in, segment.header);
        return true;
    }

    /// Takes a receive, and puts nothing into it (RFC 7306 6). The immediate data announces the WRITE before it.
    private boolean onImmediate() {
        if (messages.sending != null) {
            return goesOnWrongly();
        }
        if (!isWhole(ImmediateData.BYTES)) {
            return false;
        }
        if (!receive.open()) {
            return withoutReceive();
        }
        messages.takeMsn(Ddp.QUEUE_SEND);
        receive.complete(
                WcOpcode.RECV_RDMA_WITH_IMM,
                messages.written,
                ImmediateData.immediate(segment.in, segment.payload()),
                CompletionAccess.WITH_IMM,
                segment.opcode.isSolicited());
        messages.written = 0;
        return true;
    }

    private boolean withoutReceive() {
        return refusals.refuse(TerminateCode.UNTAGGED_NO_BUFFER, segment.opcode + " without a receive for it");
    }

    private boolean goesOnWrongly() {
        return refusals.refuse(TerminateCode.UNEXPECTED_OPCODE, segment.opcode + " goes on with a " + messages.sending);
    }

    /// Returns whether a message that fits into one segment is as long as it has to be, and complete.
    private boolean isWhole(int expected) {
        int bytes = segment.payloadLeft;
        if (bytes > expected) {
            return refusals.refuse(TerminateCode.UNTAGGED_TOO_LONG, segment.opcode + " of " + bytes + " bytes");
        }
        return (bytes == expected && segment.isLast)
                || refusals.refuse(
                        TerminateCode.OPERATION_UNSPECIFIED,
                        segment.opcode + " of " + bytes + " bytes" + (segment.isLast ? "" : ", and more to come"));
    }
}
