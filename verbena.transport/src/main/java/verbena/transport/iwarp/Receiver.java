package verbena.transport.iwarp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
import verbena.verbs.spi.CompletionAccess;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.iwarp.TerminateCode;

/// The receiving half of an iWARP termination. An FPDU goes down the standards' checklist: framing and CRC (RFC
/// 5044), version, queue, number and offset (RFC 5041), opcode, key and rights (RFC 5040). The first check that
/// fails decides the code of the TERMINATE, and nothing of that FPDU is placed.
///
/// Payload is placed as it comes when there is no CRC; with one, an FPDU waits until all of it is there. A
/// message becomes complete only behind the FPDU's last byte.
final class Receiver {
    private enum Phase {
        HEADER,
        PAYLOAD,
        TRAILER
    }

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Termination termination;
    private final Runnable onHeard;
    private final Receiving receive;
    private final OutstandingRequests outstanding;
    private final Segment segment = new Segment();
    private final ArrivingMessages messages = new ArrivingMessages();
    private final SegmentChecks checks;

    private final CRC32C crc32c = new CRC32C();
    private boolean crc;
    private boolean markers;
    /// An FPDU without its markers; only with markers.
    private @Nullable StreamBuffer plain;
    /// Octets of the stream so far; only with markers.
    private long position;
    /// A message waits for a receive.
    private boolean isStalled;
    /// Whether it has waited long enough.
    private boolean gaveUp;

    private Phase phase = Phase.HEADER;
    private int trailerLeft;

    Receiver(
            QueuePairCore core,
            Termination termination,
            Runnable onHeard,
            Receiving receive,
            OutstandingRequests outstanding,
            OwedResponses owed) {
        this.core = core;
        this.p = core.parameters;
        this.termination = termination;
        this.onHeard = onHeard;
        this.receive = receive;
        this.outstanding = outstanding;
        var refusals = new Refusals(termination, outstanding, segment);
        this.checks = new SegmentChecks(
                core,
                receive,
                segment,
                messages,
                refusals,
                new PeerRequests(core, segment, messages, refusals, owed),
                new PeerResponses(core, termination, segment, messages, refusals, outstanding));
    }

    // ---- life

    void start(StreamTerms terms) {
        crc = terms.crc();
        markers = terms.markersIn();
        position = 0;
        if (markers && plain == null) {
            plain = new StreamBuffer(Arena.ofAuto().allocate(StreamBuffer.BYTES_MIN, Long.BYTES));
        }
        messages.start(terms);
        isStalled = false;
        gaveUp = false;
        phase = Phase.HEADER;
    }

    /// Returns whether a message, or an FPDU of one, is incomplete.
    boolean isInside() {
        return phase != Phase.HEADER || messages.isInside();
    }

    // ---- the stream

    int onBytes(StreamBuffer bytes, int from, int to) {
        return markers ? withMarkers(bytes, from, to) : onPlainBytes(bytes, from, to, false) - from;
    }

    /// Receives FPDUs without markers; returns the offset at which it stopped.
    ///
    /// @param checked whether the CRC has been looked at
    private int onPlainBytes(StreamBuffer bytes, int from, int to, boolean checked) {
        int at = from;
        while (termination.isReceiving()) {
            switch (phase) {
                case HEADER -> {
                    int next = onHeader(bytes, at, to, checked);
                    if (next < 0) {
                        return at;
                    }
                    at = next;
                }
                case PAYLOAD -> {
                    int n = Math.min(segment.payloadLeft, to - at);
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
                        if (!segment.isLast || onMessage()) {
                            termination.count(PacketFate.ACCEPTED);
                        }
                    }
                }
            }
        }
        return to;
    }

    /// Begins an FPDU. Returns the offset of its payload, or -1 when more bytes have to come first.
    private int onHeader(StreamBuffer bytes, int at, int to, boolean checked) {
        MemorySegment in = bytes.segment;
        int ulpdu = at + Fpdu.LENGTH_BYTES;
        if (to - at < Fpdu.LENGTH_BYTES + 2) {
            return -1; // the length, and the octets that say what kind of segment it is
        }
        int length = Fpdu.ulpduLength(in, at);
        int header = Segment.headerBytes(in, ulpdu);
        if (length < header) {
            termination.refuse(TerminateCode.FRAMING, "an FPDU of " + length + " bytes, shorter than its header");
            return to;
        }
        boolean placeable = isPlaceable(RdmapOpcode.of(Ddp.opcode(in, ulpdu)));
        if (to - at < (crc || !placeable ? Fpdu.length(length) : Fpdu.LENGTH_BYTES + header)) {
            return -1;
        }
        int covered = Fpdu.length(length) - Fpdu.CRC_BYTES;
        if (crc && !checked && Fpdu.crc(crc32c, bytes.buffer, at, covered) != Fpdu.crc(in, at + covered)) {
            termination.refuse(TerminateCode.CRC, "the CRC of an FPDU is wrong");
            return to;
        }
        segment.begin(in, ulpdu, length);
        if (!checks.fits()) {
            return to;
        }
        if (mustWait()) {
            return -1;
        }
        core.counters.add(Counter.RECEIVED_BYTES, Fpdu.length(length));
        onHeard.run();
        if (!checks.mayPlace()) {
            return to;
        }
        int payload = segment.payload();
        if (!placeable) {
            payload += segment.payloadLeft; // carried out already
            segment.payloadLeft = 0;
        }
        trailerLeft = Fpdu.trailerBytes(length);
        phase = segment.payloadLeft > 0 ? Phase.PAYLOAD : Phase.TRAILER;
        return payload;
    }

    /// Returns whether payload is placed as it comes. All else is carried out when the FPDU is whole.
    private static boolean isPlaceable(@Nullable RdmapOpcode opcode) {
        return opcode == RdmapOpcode.WRITE
                || opcode == RdmapOpcode.READ_RESPONSE
                || (opcode != null && opcode.isSend());
    }

    /// Returns whether a message begins that needs a receive, and none is posted. The stream is not read on then:
    /// TCP makes the peer wait, as an RNR NAK does on InfiniBand.
    private boolean mustWait() {
        RdmapOpcode opcode = segment.opcode;
        boolean takesReceive =
                opcode.isImmediate() || (opcode.isSend() && messages.sending == null && !messages.isRtrSend(segment));
        if (!takesReceive || receive.open()) {
            isStalled = false;
            gaveUp = false;
            return false;
        }
        isStalled = !gaveUp;
        return isStalled;
    }

    /// Returns whether the stream waits for a receive: see [IwarpConnection#isStalled].
    boolean isStalled() {
        return isStalled;
    }

    /// Stops waiting for a receive: see [IwarpConnection#giveUp].
    void giveUp() {
        gaveUp = true;
    }

    // ---- placing

    private void place(MemorySegment from, int at, int bytes) {
        MemoryVerdict verdict = switch (segment.opcode) {
            case WRITE ->
                core.memory.write(
                        segment.stag,
                        p.protectionDomain,
                        p.qpn,
                        segment.address,
                        from,
                        at,
                        bytes,
                        Access.REMOTE_WRITE.bit());
            case READ_RESPONSE -> outstanding.place(from, at, bytes);
            default -> core.memory.scatter(receive.scatter(), p.receiveDomain(), messages.received, from, at, bytes);
        };
        if (verdict == MemoryVerdict.OK) {
            advance(bytes);
        } else {
            cannotPlace(verdict);
        }
    }

    /// Notes that bytes of the payload are in their place.
    private void advance(int bytes) {
        switch (segment.opcode) {
            case WRITE -> {
                segment.address += bytes;
                messages.written += bytes;
            }
            case READ_RESPONSE -> {}
            default -> messages.received += bytes;
        }
        segment.payloadLeft -= bytes;
        if (segment.payloadLeft == 0) {
            phase = Phase.TRAILER;
        }
    }

    /// Refuses a segment whose memory was there when it began and is not any more.
    private void cannotPlace(MemoryVerdict verdict) {
        switch (segment.opcode) {
            case WRITE -> {
                TerminateCode code = Refusals.taggedCode(verdict, segment.address, segment.payloadLeft);
                termination.refuseAccess(
                        code,
                        segment.stag,
                        Refusals.access("WRITE", segment.payloadLeft, segment.address, segment.stag, verdict));
            }
            case READ_RESPONSE ->
                outstanding.refuseAnswer(
                        TerminateCode.DDP_CATASTROPHIC,
                        WcStatus.LOC_PROT_ERR,
                        "a scatter entry of the READ: " + verdict.explanation());
            default ->
                termination.failReceive(
                        TerminateCode.DDP_CATASTROPHIC,
                        WcStatus.LOC_PROT_ERR,
                        "a scatter entry, after " + messages.received + " bytes: " + verdict.explanation());
        }
    }

    boolean direct(StreamTarget into) {
        if (phase != Phase.PAYLOAD || crc || markers || !termination.isReceiving()) {
            return false;
        }
        MemoryVerdict verdict = switch (segment.opcode) {
            case WRITE ->
                core.memory.locate(
                        segment.stag,
                        p.protectionDomain,
                        p.qpn,
                        segment.address,
                        segment.payloadLeft,
                        Access.REMOTE_WRITE.bit());
            case READ_RESPONSE -> outstanding.locate();
            default -> core.memory.locate(receive.scatter(), p.receiveDomain(), messages.received, true);
        };
        if (verdict != MemoryVerdict.OK) {
            cannotPlace(verdict);
            return false;
        }
        if (core.memory.locatedBytes() == 0) {
            return false; // the operating system must not use it
        }
        into.segment = core.memory.located();
        into.offset = core.memory.locatedOffset();
        into.bytes = (int) Math.min(segment.payloadLeft, core.memory.locatedBytes());
        return true;
    }

    void onDirect(int bytes) {
        if (segment.opcode == RdmapOpcode.READ_RESPONSE) {
            outstanding.placed(bytes);
        }
        advance(bytes);
    }

    // ---- complete

    /// Completes a message, which is in its place with its last trailer; returns false when it is refused all the
    /// same.
    private boolean onMessage() {
        switch (segment.opcode) {
            case WRITE -> messages.writeComplete = true;
            case READ_RESPONSE -> outstanding.readAnswered();
            case SEND, SEND_INVALIDATE, SEND_SOLICITED, SEND_SOLICITED_INVALIDATE -> {
                return onSend();
            }
            default -> {} // carried out already
        }
        return true;
    }

    private boolean onSend() {
        messages.takeMsn(Ddp.QUEUE_SEND);
        if (messages.awaitsRtrSend) {
            messages.awaitsRtrSend = false;
            return true;
        }
        RdmapOpcode opcode = segment.opcode;
        boolean invalidate = opcode.hasInvalidate();
        messages.sending = null;
        if (invalidate) {
            MemoryVerdict verdict = core.memory.invalidate(segment.stag, p.protectionDomain, p.qpn);
            if (verdict != MemoryVerdict.OK) {
                termination.failReceive(
                        TerminateCode.CANNOT_INVALIDATE,
                        WcStatus.REM_INV_REQ_ERR,
                        "the peer's " + opcode + " of key 0x" + Integer.toHexString(segment.stag) + ": "
                                + verdict.explanation());
                return false;
            }
        }
        receive.complete(
                WcOpcode.RECV,
                messages.received,
                invalidate ? segment.stag : 0,
                invalidate ? CompletionAccess.WITH_INV : 0,
                opcode.isSolicited());
        return true;
    }

    // ---- markers

    /// Takes FPDUs whose last octet is there: checks each marker and the CRC, which covers markers, and hands the
    /// FPDU on without them.
    private int withMarkers(StreamBuffer bytes, int from, int to) {
        StreamBuffer without = plain;
        int at = from;
        while (without != null && termination.isReceiving()) {
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
                termination.refuse(TerminateCode.FRAMING, "a marker does not point at its FPDU");
                return to - from;
            }
            int covered = raw - Fpdu.CRC_BYTES;
            if (crc && Fpdu.crc(crc32c, bytes.buffer, at, covered) != Fpdu.crc(bytes.segment, at + covered)) {
                termination.refuse(TerminateCode.CRC, "the CRC of an FPDU is wrong");
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
