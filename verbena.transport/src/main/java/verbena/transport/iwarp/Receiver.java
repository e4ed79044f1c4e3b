package verbena.transport.iwarp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.ImmediateData;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.Terminate;
import verbena.wire.iwarp.TerminateCode;

/// What arrives. An FPDU goes down the standards' checklist: framing and CRC (RFC 5044), version, queue, number
/// and offset (RFC 5041), opcode, key and rights (RFC 5040); the first check that fails decides what the TERMINATE
/// says, and nothing of that FPDU is placed.
///
/// Payload is placed as it comes when there is no CRC; with one, an FPDU waits until all of it is there. What
/// makes a message complete happens behind the FPDU's last byte.
final class Receiver {
    private static final int UNTAGGED_QUEUES = 4;

    private enum Phase {
        HEADER,
        PAYLOAD,
        TRAILER
    }

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final IwarpConnection connection;
    private final Receiving receive;
    private final Sender sender;
    private final Owed owed;

    private final CRC32C crc32c = new CRC32C();
    private boolean crc;
    private boolean markers;
    /// With markers: an FPDU without them.
    private @Nullable StreamBuffer plain;
    /// With markers: octets of the stream so far.
    private long position;
    /// A SEND of no bytes may come first, for which no receive is posted.
    private boolean awaitsRtrSend;

    /// A message waits for a receive.
    private boolean isStalled;
    /// It has waited for long enough.
    private boolean gaveUp;

    /// The number that comes next in each queue.
    private final int[] msnExpected = new int[UNTAGGED_QUEUES];

    // The segment that is arriving.
    private Phase phase = Phase.HEADER;
    private RdmapOpcode opcode = RdmapOpcode.WRITE;
    private boolean last;
    private int payloadLeft;
    private int trailerLeft;
    private int stag;
    private long address;

    /// Of a SEND: its opcode while it is incomplete.
    private @Nullable RdmapOpcode sending;
    /// Of a SEND: bytes so far.
    private long received;
    /// Of the WRITE that came last, or is coming: bytes so far.
    private long written;
    /// That WRITE is complete.
    private boolean writeComplete = true;

    Receiver(QueuePairCore core, IwarpConnection connection, Receiving receive, Sender sender, Owed owed) {
        this.core = core;
        this.p = core.parameters;
        this.connection = connection;
        this.receive = receive;
        this.sender = sender;
        this.owed = owed;
    }

    // ---- life

    void start(StreamTerms terms) {
        crc = terms.crc();
        markers = terms.markersIn();
        position = 0;
        if (markers && plain == null) {
            plain = new StreamBuffer(Arena.ofAuto().allocate(StreamBuffer.BYTES_MIN, Long.BYTES));
        }
        awaitsRtrSend = !terms.isInitiator() && terms.rtr() == Rtr.SEND;
        Arrays.fill(msnExpected, 1);
        isStalled = false;
        gaveUp = false;
        phase = Phase.HEADER;
        sending = null;
        received = 0;
        written = 0;
        writeComplete = true;
    }

    /// Whether a message, or an FPDU of one, is incomplete.
    boolean isInside() {
        return phase != Phase.HEADER || sending != null || !writeComplete;
    }

    // ---- the stream

    int onBytes(StreamBuffer bytes, int from, int to) {
        return markers ? withMarkers(bytes, from, to) : onPlainBytes(bytes, from, to, false) - from;
    }

    /// Answers where it stopped.
    ///
    /// @param checked whether the CRC has been looked at
    private int onPlainBytes(StreamBuffer bytes, int from, int to, boolean checked) {
        int at = from;
        while (connection.isReceiving()) {
            switch (phase) {
                case HEADER -> {
                    int next = onHeader(bytes, at, to, checked);
                    if (next < 0) {
                        return at;
                    }
                    at = next;
                }
                case PAYLOAD -> {
                    int n = Math.min(payloadLeft, to - at);
                    if (n == 0) {
                        return at;
                    }
                    place(bytes.segment, at, n);
                    at += n;
                }
                case TRAILER -> {
                    int n = Math.min(trailerLeft, to - at);
                    if (n == 0) {
                        return at;
                    }
                    at += n;
                    trailerLeft -= n;
                    if (trailerLeft == 0) {
                        phase = Phase.HEADER;
                        if (!last || onMessage()) {
                            connection.count(PacketFate.ACCEPTED);
                        }
                    }
                }
            }
        }
        return to;
    }

    /// An FPDU begins. Answers where its payload does, or -1 when more bytes have to come first.
    private int onHeader(StreamBuffer bytes, int at, int to, boolean checked) {
        MemorySegment in = bytes.segment;
        int ulpdu = at + Fpdu.LENGTH_BYTES;
        if (to - at < Fpdu.LENGTH_BYTES + 2) {
            return -1; // the length, and the octets that say what kind of segment it is
        }
        int length = Fpdu.ulpduLength(in, at);
        boolean tagged = Ddp.isTagged(in, ulpdu);
        int header = tagged ? Ddp.TAGGED_BYTES : Ddp.UNTAGGED_BYTES;
        RdmapOpcode code = RdmapOpcode.of(Ddp.opcode(in, ulpdu));
        boolean placeable =
                code == RdmapOpcode.WRITE || code == RdmapOpcode.READ_RESPONSE || (code != null && code.isSend());
        int needed = crc || !placeable ? Fpdu.length(length) : Fpdu.LENGTH_BYTES + header;
        if (to - at < needed && length >= header) {
            return -1;
        }
        if (length < header) {
            connection.refuse(TerminateCode.FRAMING, "an FPDU of " + length + " bytes, shorter than its header");
            return to;
        }
        int covered = Fpdu.length(length) - Fpdu.CRC_BYTES;
        if (crc && !checked && Fpdu.crc(crc32c, bytes.buffer, at, covered) != Fpdu.crc(in, at + covered)) {
            connection.refuse(TerminateCode.CRC, "the CRC of an FPDU is wrong");
            return to;
        }
        payloadLeft = length - header;
        trailerLeft = Fpdu.trailerBytes(length);
        last = Ddp.isLast(in, ulpdu);
        if (Ddp.version(in, ulpdu) != Ddp.VERSION) {
            return refused(
                    tagged ? TerminateCode.TAGGED_VERSION : TerminateCode.UNTAGGED_VERSION,
                    "version " + Ddp.version(in, ulpdu) + " of DDP",
                    in,
                    ulpdu,
                    to);
        }
        if (!tagged && !fitsQueue(in, ulpdu, code)) {
            return to;
        }
        if (Ddp.rdmapVersion(in, ulpdu) != Ddp.RDMAP_VERSION) {
            return refused(
                    TerminateCode.RDMAP_VERSION, "version " + Ddp.rdmapVersion(in, ulpdu) + " of RDMAP", in, ulpdu, to);
        }
        if (code == null || code.isTagged() != tagged) {
            return refused(
                    TerminateCode.UNEXPECTED_OPCODE,
                    "opcode " + Ddp.opcode(in, ulpdu) + (tagged ? " in a tagged segment" : " in an untagged segment"),
                    in,
                    ulpdu,
                    to);
        }
        opcode = code;
        if (mustWait()) {
            return -1;
        }
        core.counters.add(Counter.RECEIVED_BYTES, Fpdu.length(length));
        connection.heard();
        int payload = ulpdu + header;
        if (!mayPlace(in, ulpdu, payload)) {
            return to;
        }
        if (!placeable) {
            payload += payloadLeft;
            payloadLeft = 0;
        }
        phase = payloadLeft > 0 ? Phase.PAYLOAD : Phase.TRAILER;
        return payload;
    }

    /// Whether a message begins that needs a receive, and none is posted. The stream is not read on then: TCP
    /// tells the peer to wait, which is what an RNR NAK does on InfiniBand.
    private boolean mustWait() {
        boolean takesReceive = opcode.isImmediate() || (opcode.isSend() && sending == null && !isRtrSend());
        if (!takesReceive || receive.open()) {
            isStalled = false;
            gaveUp = false;
            return false;
        }
        isStalled = !gaveUp;
        return isStalled;
    }

    private boolean isRtrSend() {
        return awaitsRtrSend && payloadLeft == 0 && last && opcode == RdmapOpcode.SEND;
    }

    /// See [IwarpConnection#isStalled].
    boolean isStalled() {
        return isStalled;
    }

    /// See [IwarpConnection#giveUp].
    void giveUp() {
        gaveUp = true;
    }

    /// RFC 5041 7.1: there is such a queue, the number is the one that comes next, and the offset is where the
    /// message stands. An opcode that nobody knows has no queue of its own.
    private boolean fitsQueue(MemorySegment in, int ulpdu, @Nullable RdmapOpcode code) {
        int queue = Ddp.queue(in, ulpdu);
        int msn = Ddp.msn(in, ulpdu);
        long offset = Ddp.messageOffset(in, ulpdu);
        if (queue < 0 || queue >= UNTAGGED_QUEUES || (code != null && !code.isTagged() && code.queue() != queue)) {
            return passed(TerminateCode.UNTAGGED_QUEUE, "queue " + Integer.toUnsignedString(queue), in, ulpdu);
        }
        if (msn != msnExpected[queue]) {
            return passed(
                    TerminateCode.UNTAGGED_MSN_RANGE,
                    "number " + Integer.toUnsignedString(msn) + " in queue " + queue + ", expected "
                            + Integer.toUnsignedString(msnExpected[queue]),
                    in,
                    ulpdu);
        }
        long expected = queue == Ddp.QUEUE_SEND && sending != null ? received : 0;
        if (offset != expected) {
            return passed(
                    TerminateCode.UNTAGGED_OFFSET, "message offset " + offset + ", expected " + expected, in, ulpdu);
        }
        return true;
    }

    /// Whether the segment may be placed, or carried out: what its opcode asks for.
    private boolean mayPlace(MemorySegment in, int ulpdu, int payload) {
        return switch (opcode) {
            case WRITE -> mayWrite(in, ulpdu);
            case READ_RESPONSE -> mayRespond(in, ulpdu);
            case SEND, SEND_INVALIDATE, SEND_SOLICITED, SEND_SOLICITED_INVALIDATE -> maySend(in, ulpdu);
            case IMMEDIATE, IMMEDIATE_SOLICITED -> onImmediate(in, ulpdu, payload);
            case READ_REQUEST -> onReadRequest(in, ulpdu, payload);
            case ATOMIC_REQUEST -> onAtomicRequest(in, ulpdu, payload);
            case ATOMIC_RESPONSE -> onAtomicResponse(in, ulpdu, payload);
            case TERMINATE -> onTerminate(in, payload);
        };
    }

    // ---- tagged

    private boolean mayWrite(MemorySegment in, int ulpdu) {
        stag = Ddp.stag(in, ulpdu);
        address = Ddp.taggedOffset(in, ulpdu);
        if (writeComplete) {
            writeComplete = false;
            written = 0;
        }
        if (payloadLeft == 0) {
            return true; // names no memory
        }
        int right = Access.REMOTE_WRITE.bit();
        MemoryVerdict verdict = (p.access & right) == 0
                ? MemoryVerdict.NO_RIGHT
                : core.memory.checkRemote(stag, p.protectionDomain, p.qpn, address, payloadLeft, right);
        if (verdict == MemoryVerdict.OK) {
            return true;
        }
        return passedAccess(
                taggedCode(verdict, address, payloadLeft),
                stag,
                access("WRITE", payloadLeft, address, stag, verdict),
                in,
                ulpdu);
    }

    private boolean mayRespond(MemorySegment in, int ulpdu) {
        if (!sender.awaitsRead()) {
            return passed(TerminateCode.UNEXPECTED_OPCODE, "the answer to a READ that was not asked for", in, ulpdu);
        }
        stag = Ddp.stag(in, ulpdu);
        address = Ddp.taggedOffset(in, ulpdu);
        if (stag != sender.expectedStag()) {
            return badAnswer(
                    TerminateCode.TAGGED_INVALID_STAG,
                    "the answer to a READ names STag 0x" + Integer.toHexString(stag) + ", expected 0x"
                            + Integer.toHexString(sender.expectedStag()),
                    in,
                    ulpdu);
        }
        if (address != sender.expectedOffset()
                || payloadLeft > sender.missing()
                || last != (payloadLeft == sender.missing())) {
            return badAnswer(
                    TerminateCode.TAGGED_BOUNDS,
                    "the answer to a READ has " + payloadLeft + " bytes at 0x" + Long.toHexString(address)
                            + (last ? ", its last" : "") + "; expected are " + sender.missing() + " at 0x"
                            + Long.toHexString(sender.expectedOffset()),
                    in,
                    ulpdu);
        }
        return true;
    }

    private boolean badAnswer(TerminateCode code, String cause, MemorySegment in, int ulpdu) {
        keep(code, in, ulpdu, 0);
        connection.refuseAnswer(code, WcStatus.BAD_RESP_ERR, cause);
        return false;
    }

    /// Only the layer above knows rights; what DDP finds is its own (RFC 5040 7.1, RFC 5041 7.2).
    private static TerminateCode taggedCode(MemoryVerdict verdict, long address, long bytes) {
        return switch (Sender.code(verdict, address, bytes)) {
            case STAG_NOT_ASSOCIATED -> TerminateCode.TAGGED_NOT_ASSOCIATED;
            case BOUNDS -> TerminateCode.TAGGED_BOUNDS;
            case OFFSET_WRAP -> TerminateCode.TAGGED_OFFSET_WRAP;
            case ACCESS -> TerminateCode.ACCESS;
            default -> TerminateCode.TAGGED_INVALID_STAG;
        };
    }

    // ---- untagged

    private boolean maySend(MemorySegment in, int ulpdu) {
        if (isRtrSend()) {
            return true; // the first of all messages: see onSend
        }
        awaitsRtrSend = false;
        if (sending == null) {
            if (!receive.open()) {
                return passed(TerminateCode.UNTAGGED_NO_BUFFER, opcode + " without a receive for it", in, ulpdu);
            }
            received = 0;
            MemoryVerdict verdict = core.memory.checkLocal(receive.scatter(), p.receiveDomain(), true);
            if (verdict != MemoryVerdict.OK) {
                return failReceive(
                        TerminateCode.DDP_CATASTROPHIC,
                        WcStatus.LOC_PROT_ERR,
                        "a scatter entry: " + verdict.explanation(),
                        in,
                        ulpdu);
            }
        } else if (sending != opcode) {
            return passed(TerminateCode.UNEXPECTED_OPCODE, opcode + " goes on with a " + sending, in, ulpdu);
        }
        sending = opcode;
        if (received + payloadLeft > receive.scatter().bytes) {
            return failReceive(
                    TerminateCode.UNTAGGED_TOO_LONG,
                    WcStatus.LOC_LEN_ERR,
                    "a message of at least " + (received + payloadLeft) + " bytes for a receive of "
                            + receive.scatter().bytes,
                    in,
                    ulpdu);
        }
        stag = Ddp.invalidateStag(in, ulpdu);
        return true;
    }

    /// Whether a message that fits into one segment is as long as it has to be, and complete.
    private boolean isWhole(MemorySegment in, int ulpdu, int bytes) {
        if (payloadLeft > bytes) {
            return passed(TerminateCode.UNTAGGED_TOO_LONG, opcode + " of " + payloadLeft + " bytes", in, ulpdu);
        }
        return (payloadLeft == bytes && last)
                || passed(
                        TerminateCode.OPERATION_UNSPECIFIED,
                        opcode + " of " + payloadLeft + " bytes" + (last ? "" : ", and more to come"),
                        in,
                        ulpdu);
    }

    /// RFC 7306 6: takes a receive, and puts nothing into it. The WRITE before it is what it tells of.
    private boolean onImmediate(MemorySegment in, int ulpdu, int payload) {
        if (sending != null) {
            return passed(TerminateCode.UNEXPECTED_OPCODE, opcode + " goes on with a " + sending, in, ulpdu);
        }
        if (!isWhole(in, ulpdu, ImmediateData.BYTES)) {
            return false;
        }
        if (!receive.open()) {
            return passed(TerminateCode.UNTAGGED_NO_BUFFER, opcode + " without a receive for it", in, ulpdu);
        }
        msnExpected[Ddp.QUEUE_SEND]++;
        receive.complete(
                WcOpcode.RECV_RDMA_WITH_IMM,
                written,
                ImmediateData.immediate(in, payload),
                WorkCompletion.WITH_IMM,
                opcode.isSolicited());
        written = 0;
        return true;
    }

    private boolean onReadRequest(MemorySegment in, int ulpdu, int payload) {
        if (!isWhole(in, ulpdu, ReadRequest.BYTES)) {
            return false;
        }
        int key = ReadRequest.sourceStag(in, payload);
        long source = ReadRequest.sourceOffset(in, payload);
        long bytes = ReadRequest.size(in, payload);
        // One of no bytes may be how the connection begins, whatever the IRD.
        if (owed.isFull() || (p.readsServedMax == 0 && bytes > 0)) {
            return passed(TerminateCode.UNTAGGED_NO_BUFFER, tooMany(), in, ulpdu);
        }
        int right = Access.REMOTE_READ.bit();
        MemoryVerdict verdict = bytes == 0
                ? MemoryVerdict.OK
                : (p.access & right) == 0
                        ? MemoryVerdict.NO_RIGHT
                        : core.memory.checkRemote(key, p.protectionDomain, p.qpn, source, bytes, right);
        if (verdict != MemoryVerdict.OK) {
            keep(Sender.code(verdict, source, bytes), in, ulpdu, ReadRequest.BYTES);
            connection.refuseAccess(
                    Sender.code(verdict, source, bytes), key, access("READ", bytes, source, key, verdict));
            return false;
        }
        Owed.Answer answer = owed.add();
        answer.isAtomic = false;
        answer.msn = msnExpected[Ddp.QUEUE_REQUEST]++;
        answer.sinkStag = ReadRequest.sinkStag(in, payload);
        answer.sinkOffset = ReadRequest.sinkOffset(in, payload);
        answer.sourceStag = key;
        answer.sourceOffset = source;
        answer.bytes = bytes;
        return true;
    }

    private String tooMany() {
        return "more than " + p.readsServedMax + " READs and atomics at once, the IRD of the connection";
    }

    private boolean onAtomicRequest(MemorySegment in, int ulpdu, int payload) {
        if (!isWhole(in, ulpdu, AtomicRequest.BYTES)) {
            return false;
        }
        if (owed.isFull() || p.readsServedMax == 0) {
            return passed(TerminateCode.UNTAGGED_NO_BUFFER, tooMany(), in, ulpdu);
        }
        int operation = AtomicRequest.operation(in, payload);
        if (operation != AtomicRequest.FETCH_ADD && operation != AtomicRequest.COMPARE_SWAP) {
            return passed(TerminateCode.UNEXPECTED_OPCODE, "atomic operation " + operation, in, ulpdu);
        }
        int key = AtomicRequest.stag(in, payload);
        long at = AtomicRequest.taggedOffset(in, payload);
        if ((at & 7) != 0) {
            return passed(
                    TerminateCode.CATASTROPHIC_STREAM,
                    "an atomic at 0x" + Long.toHexString(at) + ", which is no multiple of 8",
                    in,
                    ulpdu);
        }
        int right = Access.REMOTE_ATOMIC.bit();
        MemoryVerdict verdict = (p.access & right) == 0
                ? MemoryVerdict.NO_RIGHT
                : core.memory.checkRemote(key, p.protectionDomain, p.qpn, at, Long.BYTES, right);
        if (verdict == MemoryVerdict.OK) {
            verdict = carryOut(operation, key, at, in, payload);
        }
        if (verdict != MemoryVerdict.OK) {
            return passedAccess(
                    Sender.code(verdict, at, Long.BYTES),
                    key,
                    access("atomic", Long.BYTES, at, key, verdict),
                    in,
                    ulpdu);
        }
        Owed.Answer answer = owed.add();
        answer.isAtomic = true;
        answer.msn = msnExpected[Ddp.QUEUE_REQUEST]++;
        answer.identifier = AtomicRequest.identifier(in, payload);
        answer.original = core.memory.original();
        return true;
    }

    private MemoryVerdict carryOut(int operation, int key, long at, MemorySegment in, int payload) {
        long value = AtomicRequest.addOrSwap(in, payload);
        long mask = AtomicRequest.addOrSwapMask(in, payload);
        return operation == AtomicRequest.FETCH_ADD
                ? core.memory.fetchAdd(key, at, value, mask)
                : core.memory.compareSwap(
                        key,
                        at,
                        AtomicRequest.compare(in, payload),
                        AtomicRequest.compareMask(in, payload),
                        value,
                        mask);
    }

    private boolean onAtomicResponse(MemorySegment in, int ulpdu, int payload) {
        if (!isWhole(in, ulpdu, AtomicResponse.BYTES)) {
            return false;
        }
        if (!sender.awaitsAtomic()) {
            return passed(TerminateCode.UNEXPECTED_OPCODE, "the answer to an atomic that was not asked for", in, ulpdu);
        }
        if (!sender.isExpected(AtomicResponse.identifier(in, payload))) {
            return badAnswer(
                    TerminateCode.OPERATION_UNSPECIFIED,
                    "the answer to an atomic names request " + AtomicResponse.identifier(in, payload)
                            + ", which is not the oldest",
                    in,
                    ulpdu);
        }
        msnExpected[Ddp.QUEUE_ATOMIC_RESPONSE]++;
        long original = AtomicResponse.original(in, payload);
        in.set(ValueLayout.JAVA_LONG_UNALIGNED, payload, original); // in this host's order
        MemoryVerdict verdict = sender.atomicAnswered(in, payload);
        if (verdict != MemoryVerdict.OK) {
            connection.refuseAnswer(
                    TerminateCode.DDP_CATASTROPHIC,
                    WcStatus.LOC_PROT_ERR,
                    "the atomic's result: " + verdict.explanation());
            return false;
        }
        return true;
    }

    private boolean onTerminate(MemorySegment in, int payload) {
        int bytes = payloadLeft;
        if (bytes < Terminate.CONTROL_BYTES) {
            connection.onTerminate(null, 0, 0, "the peer terminated the connection and did not say why");
            return false;
        }
        int layer = Terminate.layer(in, payload);
        int type = Terminate.type(in, payload);
        int number = Terminate.code(in, payload);
        TerminateCode code = TerminateCode.of(layer, type, number);
        connection.onTerminate(
                code,
                layer << 12 | type << 8 | number,
                refusedRequest(in, payload, bytes),
                "the peer terminated the connection: "
                        + (code == null
                                ? "layer " + layer + ", type " + type + ", code " + number
                                : code.explanation() + " (" + code + ")"));
        return false;
    }

    /// The number, in its queue, of the READ or atomic of ours that a TERMINATE is about; 0 when it shows none.
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
                ? sender.numberOfRead(
                        ReadRequest.sinkStag(in, payload + read), ReadRequest.sinkOffset(in, payload + read))
                : Ddp.msn(in, payload + ddp);
    }

    // ---- placing

    private void place(MemorySegment from, int at, int bytes) {
        MemoryVerdict verdict = switch (opcode) {
            case WRITE ->
                core.memory.write(stag, p.protectionDomain, p.qpn, address, from, at, bytes, Access.REMOTE_WRITE.bit());
            case READ_RESPONSE -> sender.place(from, at, bytes);
            default -> core.memory.scatter(receive.scatter(), p.receiveDomain(), received, from, at, bytes);
        };
        if (verdict == MemoryVerdict.OK) {
            advance(bytes);
        } else {
            cannotPlace(verdict);
        }
    }

    /// So many bytes of the payload are in their place.
    private void advance(int bytes) {
        switch (opcode) {
            case WRITE -> {
                address += bytes;
                written += bytes;
            }
            case READ_RESPONSE -> {}
            default -> received += bytes;
        }
        payloadLeft -= bytes;
        if (payloadLeft == 0) {
            phase = Phase.TRAILER;
        }
    }

    /// It could be when the segment began, and cannot any more.
    private void cannotPlace(MemoryVerdict verdict) {
        switch (opcode) {
            case WRITE -> {
                TerminateCode code = taggedCode(verdict, address, payloadLeft);
                connection.refuseAccess(code, stag, access("WRITE", payloadLeft, address, stag, verdict));
            }
            case READ_RESPONSE ->
                connection.refuseAnswer(
                        TerminateCode.DDP_CATASTROPHIC,
                        WcStatus.LOC_PROT_ERR,
                        "a scatter entry of the READ: " + verdict.explanation());
            default ->
                connection.failReceive(
                        TerminateCode.DDP_CATASTROPHIC,
                        WcStatus.LOC_PROT_ERR,
                        "a scatter entry, after " + received + " bytes: " + verdict.explanation());
        }
    }

    boolean direct(StreamTarget into) {
        if (phase != Phase.PAYLOAD || crc || markers || !connection.isReceiving()) {
            return false;
        }
        MemoryVerdict verdict = switch (opcode) {
            case WRITE ->
                core.memory.locate(stag, p.protectionDomain, p.qpn, address, payloadLeft, Access.REMOTE_WRITE.bit());
            case READ_RESPONSE -> sender.locate();
            default -> core.memory.locate(receive.scatter(), p.receiveDomain(), received, true);
        };
        if (verdict != MemoryVerdict.OK) {
            cannotPlace(verdict);
            return false;
        }
        into.segment = core.memory.located();
        into.offset = core.memory.locatedOffset();
        into.bytes = (int) Math.min(payloadLeft, core.memory.locatedBytes());
        return true;
    }

    void onDirect(int bytes) {
        if (opcode == RdmapOpcode.READ_RESPONSE) {
            sender.placed(bytes);
        }
        advance(bytes);
    }

    // ---- complete

    /// The message is in its place, and the last trailer is here; false when it is refused all the same.
    private boolean onMessage() {
        switch (opcode) {
            case WRITE -> writeComplete = true;
            case READ_RESPONSE -> sender.readAnswered();
            case SEND, SEND_INVALIDATE, SEND_SOLICITED, SEND_SOLICITED_INVALIDATE -> {
                return onSend();
            }
            default -> {} // carried out already
        }
        return true;
    }

    private boolean onSend() {
        msnExpected[Ddp.QUEUE_SEND]++;
        if (awaitsRtrSend) {
            awaitsRtrSend = false;
            return true;
        }
        boolean invalidate = opcode.hasInvalidate();
        sending = null;
        if (invalidate) {
            MemoryVerdict verdict = core.memory.invalidate(stag, p.protectionDomain, p.qpn);
            if (verdict != MemoryVerdict.OK) {
                connection.failReceive(
                        TerminateCode.CANNOT_INVALIDATE,
                        WcStatus.REM_INV_REQ_ERR,
                        "the peer's " + opcode + " of key 0x" + Integer.toHexString(stag) + ": "
                                + verdict.explanation());
                return false;
            }
        }
        receive.complete(
                WcOpcode.RECV,
                received,
                invalidate ? stag : 0,
                invalidate ? WorkCompletion.WITH_INV : 0,
                opcode.isSolicited());
        return true;
    }

    // ---- refusals; all are false

    private int refused(TerminateCode code, String cause, MemorySegment in, int ulpdu, int to) {
        passed(code, cause, in, ulpdu);
        return to;
    }

    private boolean passed(TerminateCode code, String cause, MemorySegment in, int ulpdu) {
        keep(code, in, ulpdu, 0);
        connection.refuse(code, "the peer sent " + cause);
        return false;
    }

    private boolean passedAccess(TerminateCode code, int key, String cause, MemorySegment in, int ulpdu) {
        keep(code, in, ulpdu, opcode == RdmapOpcode.ATOMIC_REQUEST ? AtomicRequest.BYTES : 0);
        connection.refuseAccess(code, key, cause);
        return false;
    }

    private boolean failReceive(TerminateCode code, WcStatus status, String cause, MemorySegment in, int ulpdu) {
        keep(code, in, ulpdu, 0);
        connection.failReceive(code, status, cause);
        return false;
    }

    /// The TERMINATE will show the headers of this segment.
    private void keep(TerminateCode code, MemorySegment in, int ulpdu, int rdmapBytes) {
        int header = Ddp.isTagged(in, ulpdu) ? Ddp.TAGGED_BYTES : Ddp.UNTAGGED_BYTES;
        connection.keepRefused(code, in, ulpdu, header, rdmapBytes, payloadLeft - rdmapBytes);
    }

    private static String access(String operation, long bytes, long address, int key, MemoryVerdict verdict) {
        return "the peer's " + operation + " of " + bytes + " bytes at 0x" + Long.toHexString(address) + " with STag 0x"
                + Integer.toHexString(key) + ": " + verdict.explanation();
    }

    // ---- markers

    /// Takes FPDUs whose last octet is there: checks each marker and the CRC, which covers markers, and hands the
    /// FPDU on without them.
    private int withMarkers(StreamBuffer bytes, int from, int to) {
        StreamBuffer without = plain;
        int at = from;
        while (without != null && connection.isReceiving()) {
            int front = Fpdu.toMarker(position) == 0 ? Fpdu.MARKER_BYTES : 0;
            if (to - at < front + Fpdu.LENGTH_BYTES) {
                return at - from;
            }
            int length = Fpdu.length(Fpdu.ulpduLength(bytes.segment, at + front));
            int raw = Fpdu.withMarkers(position, length);
            if (to - at < raw) {
                return at - from;
            }
            if (!Fpdu.copyWithoutMarkers(bytes.segment, at, raw, position, without.segment)) {
                connection.refuse(TerminateCode.FRAMING, "a marker does not point at its FPDU");
                return to - from;
            }
            int covered = raw - Fpdu.CRC_BYTES;
            if (crc && Fpdu.crc(crc32c, bytes.buffer, at, covered) != Fpdu.crc(bytes.segment, at + covered)) {
                connection.refuse(TerminateCode.CRC, "the CRC of an FPDU is wrong");
                return to - from;
            }
            if (onPlainBytes(without, 0, length, true) == 0) {
                return at - from; // it waits, and will be looked at again
            }
            position += raw;
            at += raw;
        }
        return to - from;
    }
}
