package verbena.transport.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.transport.iwarp.Fpdus.atomicRequest;
import static verbena.transport.iwarp.Fpdus.readRequest;
import static verbena.transport.iwarp.Fpdus.sealed;
import static verbena.transport.iwarp.Fpdus.tagged;
import static verbena.transport.iwarp.Fpdus.untagged;
import static verbena.transport.iwarp.Fpdus.with;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.memory.Region;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.iwarp.Terminate;
import verbena.wire.iwarp.TerminateCode;

/// Each thing that a peer may not do: what the TERMINATE says, what completes, what is raised; and that no byte of
/// it gets anywhere (RFC 5040 4.8, 7.1; RFC 5041 7.1, 7.2, 8; RFC 5044 8).
class RefusalsTest {
    private static final int SIZE = 4096;
    /// Of an FPDU: the octets of the two control fields.
    private static final int DDP_CONTROL = 2;

    private static final int RDMAP_CONTROL = 3;

    private final IwarpEnd b = new IwarpEnd("b", 2);
    private final Region r = b.region(SIZE);
    private final Region in = b.region(SIZE);

    private void start(boolean crc, boolean markersIn, int ird, Rtr rtr) {
        IwarpEnd.fill(r, 1);
        IwarpEnd.fill(in, 2);
        b.connection.start(new StreamTerms(false, crc, markersIn, false, 1442, ird, 4, rtr), 0);
    }

    private void start() {
        start(false, false, 4, Rtr.NONE);
    }

    /// `bytes` arrive and are refused.
    ///
    /// @param event what is raised; null when a completion tells
    private void refuses(byte[] bytes, TerminateCode code, AsyncEvent.@Nullable Type event, List<String> completions) {
        byte[] before = IwarpEnd.bytes(r, 0, SIZE);
        b.arrive(bytes);
        assertThat(terminate(b.sent(), code)).isEqualTo(code);
        assertThat(b.completed()).isEqualTo(completions);
        assertThat(b.events).isEqualTo(event == null ? List.of() : List.of(event));
        assertThat(b.parameters.state).isEqualTo(QpState.ERR);
        assertThat(b.connection.rootCause()).contains(code.name());
        assertThat(b.connection.isFinished()).isTrue();
        assertThat(IwarpEnd.bytes(r, 0, SIZE)).isEqualTo(before);
        assertThat(b.counters.get(PacketFate.REFUSED)).isEqualTo(1);
        assertThat(b.counters.get(Counter.SENT_TERMINATES)).isEqualTo(1);
        assertThat(b.counters.get(Counter.RECEIVED_PACKETS))
                .isEqualTo(b.counters.get(PacketFate.ACCEPTED) + b.counters.get(PacketFate.REFUSED));
        b.arrive(bytes); // and what follows is not even looked at
        assertThat(b.sent()).isEmpty();
    }

    private static @Nullable TerminateCode terminate(byte[] sent, TerminateCode expected) {
        List<MemorySegment> ulpdus = Fpdus.ulpdus(sent);
        MemorySegment last = ulpdus.getLast();
        assertThat(Ddp.opcode(last, 0)).isEqualTo(RdmapOpcode.TERMINATE.code());
        assertThat(Ddp.queue(last, 0)).isEqualTo(Ddp.QUEUE_TERMINATE);
        assertThat(Ddp.msn(last, 0)).isEqualTo(1);
        assertThat(Ddp.isLast(last, 0)).isTrue();
        int at = Ddp.UNTAGGED_BYTES;
        boolean shows = (Terminate.flags(last, at) & Terminate.HAS_DDP) != 0;
        assertThat(shows).isEqualTo(expected.layer() != 2 && expected != TerminateCode.LOCAL_CATASTROPHIC);
        return TerminateCode.of(Terminate.layer(last, at), Terminate.type(last, at), Terminate.code(last, at));
    }

    private byte[] write(int stag, long address, int bytes) {
        return tagged(RdmapOpcode.WRITE, true, stag, address, bytes);
    }

    // ---- WRITE

    @Test
    void aWriteWithAnUnknownStag() {
        start();
        refuses(
                write(r.key() ^ 1, r.iova(), 100),
                TerminateCode.TAGGED_INVALID_STAG,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void aWriteBeyondTheEnd() {
        start();
        refuses(
                write(r.key(), r.iova() + SIZE - 99, 100),
                TerminateCode.TAGGED_BOUNDS,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void aWriteWhoseOffsetWraps() {
        start();
        refuses(write(r.key(), -50, 100), TerminateCode.TAGGED_OFFSET_WRAP, AsyncEvent.Type.QP_ACCESS_ERR, List.of());
    }

    @Test
    void aWriteIntoARegionThatIsOnlyRead() {
        start();
        Region readable = b.region(SIZE, Access.REMOTE_READ.bit());
        refuses(
                write(readable.key(), readable.iova(), 100),
                TerminateCode.ACCESS,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void aWriteThatTheQueuePairDoesNotAllow() {
        start();
        b.parameters.access = Access.REMOTE_READ.bit();
        refuses(write(r.key(), r.iova(), 100), TerminateCode.ACCESS, AsyncEvent.Type.QP_ACCESS_ERR, List.of());
    }

    @Test
    void aWriteIntoAnotherProtectionDomain() {
        start();
        b.memory.reregister(r, 2, IwarpEnd.ALL);
        refuses(
                write(r.key(), r.iova(), 100),
                TerminateCode.TAGGED_NOT_ASSOCIATED,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void aWriteOfNoBytesNamesNoMemory() {
        start();
        b.arrive(write(1, 0, 0));
        assertThat(b.sent()).isEmpty();
        assertThat(b.parameters.state).isEqualTo(QpState.RTS);
        assertThat(b.heard).isTrue();
    }

    @Test
    void aRegionWithdrawnInTheMiddleOfAWrite() {
        start();
        byte[] whole = write(r.key(), r.iova(), 1000);
        b.arrive(Arrays.copyOf(whole, 300));
        b.memory.remove(r);
        byte[] before = IwarpEnd.bytes(r, 0, SIZE);
        b.arrive(Arrays.copyOfRange(whole, 300, whole.length));
        assertThat(terminateWithoutHeaders()).isEqualTo(TerminateCode.TAGGED_INVALID_STAG);
        assertThat(IwarpEnd.bytes(r, 0, SIZE)).isEqualTo(before);
        assertThat(b.events).containsExactly(AsyncEvent.Type.QP_ACCESS_ERR);
    }

    @Test
    void anArenaClosedInTheMiddleOfAWrite() {
        start();
        Arena arena = Arena.ofShared();
        Region closed = b.region(arena, SIZE, IwarpEnd.ALL);
        byte[] whole = write(closed.key(), closed.iova(), 1000);
        b.arrive(Arrays.copyOf(whole, 300));
        arena.close();
        b.arrive(Arrays.copyOfRange(whole, 300, whole.length));
        assertThat(terminateWithoutHeaders()).isEqualTo(TerminateCode.TAGGED_INVALID_STAG);
    }

    @Test
    void anArenaThatIsClosedIsNoPlaceToReadTo() {
        start();
        Arena arena = Arena.ofShared();
        Region closed = b.region(arena, SIZE, IwarpEnd.ALL);
        b.arrive(Arrays.copyOf(write(closed.key(), closed.iova(), 1000), 300));
        arena.close();
        assertThat(b.connection.direct(new StreamTarget())).isFalse();
        assertThat(terminateWithoutHeaders()).isEqualTo(TerminateCode.TAGGED_INVALID_STAG);
    }

    private @Nullable TerminateCode terminateWithoutHeaders() {
        MemorySegment last = Fpdus.ulpdus(b.sent()).getLast();
        int at = Ddp.UNTAGGED_BYTES;
        assertThat(Terminate.flags(last, at)).isZero();
        return TerminateCode.of(Terminate.layer(last, at), Terminate.type(last, at), Terminate.code(last, at));
    }

    // ---- READ

    @Test
    void aReadWithAnUnknownStag() {
        start();
        refuses(
                readRequest(1, 5, 6, 100, r.key() ^ 1, r.iova()),
                TerminateCode.INVALID_STAG,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void aReadBeyondTheEnd() {
        start();
        refuses(
                readRequest(1, 5, 6, SIZE + 1, r.key(), r.iova()),
                TerminateCode.BOUNDS,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void aReadWhoseOffsetWraps() {
        start();
        refuses(
                readRequest(1, 5, 6, 100, r.key(), -50),
                TerminateCode.OFFSET_WRAP,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void aReadFromARegionThatIsOnlyWritten() {
        start();
        Region writable = b.region(SIZE, Access.LOCAL_WRITE.bit() | Access.REMOTE_WRITE.bit());
        refuses(
                readRequest(1, 5, 6, 100, writable.key(), writable.iova()),
                TerminateCode.ACCESS,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void aReadFromAnotherProtectionDomain() {
        start();
        b.memory.reregister(r, 2, IwarpEnd.ALL);
        refuses(
                readRequest(1, 5, 6, 100, r.key(), r.iova()),
                TerminateCode.STAG_NOT_ASSOCIATED,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void oneReadMoreThanTheIrdAllows() {
        start(false, false, 2, Rtr.NONE);
        b.arrive(readRequest(1, 5, 6, 100, r.key(), r.iova()));
        b.arrive(readRequest(2, 5, 6, 100, r.key(), r.iova()));
        refuses(
                readRequest(3, 5, 6, 100, r.key(), r.iova()),
                TerminateCode.UNTAGGED_NO_BUFFER,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void aReadWhenTheIrdIsNone() {
        start(false, false, 0, Rtr.NONE);
        refuses(
                readRequest(1, 5, 6, 100, r.key(), r.iova()),
                TerminateCode.UNTAGGED_NO_BUFFER,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void aReadRequestThatIsTooShortOrTooLongOrNotComplete() {
        start();
        refuses(
                untagged(RdmapOpcode.READ_REQUEST, true, 1, 0, 27),
                TerminateCode.OPERATION_UNSPECIFIED,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void aReadRequestThatIsTooLong() {
        start();
        refuses(
                untagged(RdmapOpcode.READ_REQUEST, true, 1, 0, 29),
                TerminateCode.UNTAGGED_TOO_LONG,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void aReadWhoseRegionIsWithdrawnBeforeItIsAnswered() {
        start();
        b.arrive(readRequest(1, 0x55, 0x66, 4000, r.key(), r.iova()));
        b.memory.remove(r);
        MemorySegment last = Fpdus.ulpdus(b.sent()).getLast();
        int at = Ddp.UNTAGGED_BYTES;
        assertThat(Terminate.flags(last, at)).isEqualTo(Terminate.HAS_LENGTH | Terminate.HAS_DDP | Terminate.HAS_RDMAP);
        assertThat(TerminateCode.of(Terminate.layer(last, at), Terminate.type(last, at), Terminate.code(last, at)))
                .isEqualTo(TerminateCode.INVALID_STAG);
        assertThat(b.events).containsExactly(AsyncEvent.Type.QP_ACCESS_ERR);
        assertThat(b.parameters.state).isEqualTo(QpState.ERR);
    }

    // ---- SEND

    @Test
    void aSendWithoutAReceiveWaitsUntilThereIsOne() {
        start();
        byte[] send = untagged(RdmapOpcode.SEND, true, 1, 0, 100);
        b.arrive(send);
        assertThat(b.connection.isStalled()).isTrue();
        assertThat(b.sent()).isEmpty();
        b.receive(7, in, 0, 200);
        b.arrive(write(1, 0, 0)); // presents what has waited again
        assertThat(b.connection.isStalled()).isFalse();
        assertThat(b.completed()).containsExactly("7 RECV 100");
    }

    @Test
    void aSendThatHasWaitedInVain() {
        start();
        b.arrive(untagged(RdmapOpcode.SEND, true, 1, 0, 100));
        b.connection.giveUp();
        refuses(write(1, 0, 0), TerminateCode.UNTAGGED_NO_BUFFER, AsyncEvent.Type.QP_REQ_ERR, List.of());
    }

    @Test
    void aSendLongerThanItsReceive() {
        start();
        b.receive(7, in, 0, 99);
        b.receive(8, in, 0, 99);
        refuses(
                untagged(RdmapOpcode.SEND, true, 1, 0, 100),
                TerminateCode.UNTAGGED_TOO_LONG,
                null,
                List.of("7 LOC_LEN_ERR", "8 WR_FLUSH_ERR"));
    }

    @Test
    void aSendIntoAReceiveWhoseRegionIsGone() {
        start();
        b.receive(7, in, 0, 200);
        b.memory.remove(in);
        refuses(
                untagged(RdmapOpcode.SEND, true, 1, 0, 100),
                TerminateCode.DDP_CATASTROPHIC,
                null,
                List.of("7 LOC_PROT_ERR"));
    }

    @Test
    void aSendWithTheWrongNumber() {
        start();
        b.receive(7, in, 0, 200);
        refuses(
                untagged(RdmapOpcode.SEND, true, 2, 0, 100),
                TerminateCode.UNTAGGED_MSN_RANGE,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of("7 WR_FLUSH_ERR"));
    }

    @Test
    void aSendThatDoesNotBeginAtItsBeginning() {
        start();
        b.receive(7, in, 0, 200);
        refuses(
                untagged(RdmapOpcode.SEND, true, 1, 4, 100),
                TerminateCode.UNTAGGED_OFFSET,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of("7 WR_FLUSH_ERR"));
    }

    @Test
    void aSendThatLeavesAGap() {
        start();
        b.receive(7, in, 0, 400);
        b.arrive(untagged(RdmapOpcode.SEND, false, 1, 0, 100));
        refuses(
                untagged(RdmapOpcode.SEND, true, 1, 104, 100),
                TerminateCode.UNTAGGED_OFFSET,
                null,
                List.of("7 REM_INV_REQ_ERR"));
    }

    @Test
    void aSendThatGoesOnAsAnother() {
        start();
        b.receive(7, in, 0, 400);
        b.arrive(untagged(RdmapOpcode.SEND, false, 1, 0, 100));
        refuses(
                untagged(RdmapOpcode.SEND_SOLICITED, true, 1, 100, 100),
                TerminateCode.UNEXPECTED_OPCODE,
                null,
                List.of("7 REM_INV_REQ_ERR"));
    }

    @Test
    void aSendThatInvalidatesWhatIsNoWindow() {
        start();
        b.receive(7, in, 0, 400);
        byte[] send = untagged(RdmapOpcode.SEND_INVALIDATE, true, 1, 0, 100);
        b.arrive(send);
        MemorySegment last = Fpdus.ulpdus(b.sent()).getLast();
        assertThat(Terminate.code(last, Ddp.UNTAGGED_BYTES)).isEqualTo(TerminateCode.CANNOT_INVALIDATE.code());
        assertThat(b.completed()).containsExactly("7 REM_INV_REQ_ERR");
        assertThat(b.counters.get(PacketFate.REFUSED)).isEqualTo(1);
        assertThat(b.counters.get(PacketFate.ACCEPTED)).isZero();
    }

    @Test
    void immediateDataThatIsNotEightBytes() {
        start();
        b.receive(7, in, 0, 0);
        refuses(
                untagged(RdmapOpcode.IMMEDIATE, true, 1, 0, 4),
                TerminateCode.OPERATION_UNSPECIFIED,
                null,
                List.of("7 REM_INV_REQ_ERR"));
    }

    // ---- headers

    @Test
    void aQueueThatIsNone() {
        start();
        refuses(
                with(untagged(RdmapOpcode.SEND, true, 1, 0, 4), 2 + 9, 4),
                TerminateCode.UNTAGGED_QUEUE,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void aSendInTheQueueOfReads() {
        start();
        refuses(
                with(untagged(RdmapOpcode.SEND, true, 1, 0, 4), 2 + 9, 1),
                TerminateCode.UNTAGGED_QUEUE,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void anotherVersionOfDdpTagged() {
        start();
        refuses(
                with(write(r.key(), r.iova(), 4), DDP_CONTROL, 0xC2),
                TerminateCode.TAGGED_VERSION,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void anotherVersionOfDdpUntagged() {
        start();
        refuses(
                with(untagged(RdmapOpcode.SEND, true, 1, 0, 4), DDP_CONTROL, 0x40),
                TerminateCode.UNTAGGED_VERSION,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void anotherVersionOfRdmap() {
        start();
        refuses(
                with(write(r.key(), r.iova(), 4), RDMAP_CONTROL, 0x80),
                TerminateCode.RDMAP_VERSION,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void anOpcodeThatIsNone() {
        start();
        refuses(
                with(write(r.key(), r.iova(), 4), RDMAP_CONTROL, 0x4C),
                TerminateCode.UNEXPECTED_OPCODE,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void aSendInATaggedSegment() {
        start();
        refuses(
                with(write(r.key(), r.iova(), 4), RDMAP_CONTROL, 0x43),
                TerminateCode.UNEXPECTED_OPCODE,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void anAnswerThatNobodyAskedFor() {
        start();
        refuses(
                tagged(RdmapOpcode.READ_RESPONSE, true, r.key(), r.iova(), 4),
                TerminateCode.UNEXPECTED_OPCODE,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void anAtomicsAnswerThatNobodyAskedFor() {
        start();
        refuses(Fpdus.atomicResponse(1, 0, 0), TerminateCode.UNEXPECTED_OPCODE, AsyncEvent.Type.QP_REQ_ERR, List.of());
    }

    // ---- atomics

    private byte[] atomic(int operation, int key, long at) {
        return atomicRequest(1, operation, key, at, 1, 0, 0, 0);
    }

    @Test
    void anAtomicThatIsNotAligned() {
        start();
        refuses(
                atomic(AtomicRequest.FETCH_ADD, r.key(), r.iova() + 4),
                TerminateCode.CATASTROPHIC_STREAM,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    @Test
    void anAtomicThatIsNone() {
        start();
        refuses(atomic(1, r.key(), r.iova()), TerminateCode.UNEXPECTED_OPCODE, AsyncEvent.Type.QP_REQ_ERR, List.of());
    }

    @Test
    void anAtomicWithoutTheRight() {
        start();
        b.parameters.access = Access.REMOTE_WRITE.bit();
        refuses(
                atomic(AtomicRequest.FETCH_ADD, r.key(), r.iova()),
                TerminateCode.ACCESS,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void anAtomicWithAnUnknownStag() {
        start();
        refuses(
                atomic(AtomicRequest.FETCH_ADD, 9, r.iova()),
                TerminateCode.INVALID_STAG,
                AsyncEvent.Type.QP_ACCESS_ERR,
                List.of());
    }

    @Test
    void anAtomicBeyondTheIrd() {
        start(false, false, 0, Rtr.NONE);
        refuses(
                atomic(AtomicRequest.FETCH_ADD, r.key(), r.iova()),
                TerminateCode.UNTAGGED_NO_BUFFER,
                AsyncEvent.Type.QP_REQ_ERR,
                List.of());
    }

    // ---- framing

    @Test
    void aWrongCrc() {
        start(true, false, 4, Rtr.NONE);
        byte[] good = sealed(write(r.key(), r.iova(), 100));
        refuses(with(good, 30, good[30] ^ 1), TerminateCode.CRC, AsyncEvent.Type.QP_REQ_ERR, List.of());
    }

    @Test
    void aWrongCrcCountsOnlyWhereThereAreCrcs() {
        start();
        b.arrive(with(write(r.key(), r.iova(), 100), 2 + 14 + 100, 99));
        assertThat(b.sent()).isEmpty();
        assertThat(b.parameters.state).isEqualTo(QpState.RTS);
    }

    @Test
    void anFpduShorterThanItsHeader() {
        start();
        refuses(with(write(r.key(), r.iova(), 0), 1, 13), TerminateCode.FRAMING, AsyncEvent.Type.QP_REQ_ERR, List.of());
    }

    @Test
    void aMarkerThatPointsElsewhere() {
        start(false, true, 4, Rtr.NONE);
        byte[] marked = IwarpEnd.concat(new byte[] {0, 0, 0, 1}, write(r.key(), r.iova(), 100));
        refuses(marked, TerminateCode.FRAMING, AsyncEvent.Type.QP_REQ_ERR, List.of());
    }

    // ---- our own mistakes

    @Test
    void aRequestWhoseOwnMemoryIsNotThere() {
        start();
        b.arrive(write(1, 0, 0));
        b.post(SendOperation.WRITE, 1, r, 0, 10, 1, 1);
        b.post(SendOperation.SEND, 2, r, SIZE - 5, 10, 0, 0);
        b.post(SendOperation.SEND, 3, r, 0, 10, 0, 0);
        assertThat(terminate(b.sent(), TerminateCode.LOCAL_CATASTROPHIC)).isEqualTo(TerminateCode.LOCAL_CATASTROPHIC);
        assertThat(b.completed()).containsExactly("1 RDMA_WRITE 10", "2 LOC_PROT_ERR", "3 WR_FLUSH_ERR");
    }

    // ---- the peer's TERMINATE

    /// What a READ that is refused completes with, for each code there is.
    @Test
    void everyTerminateFailsTheReadThatItNames() {
        Set<TerminateCode> access = EnumSet.of(
                TerminateCode.INVALID_STAG,
                TerminateCode.BOUNDS,
                TerminateCode.ACCESS,
                TerminateCode.STAG_NOT_ASSOCIATED,
                TerminateCode.OFFSET_WRAP,
                TerminateCode.PROTECTION_UNSPECIFIED,
                TerminateCode.TAGGED_INVALID_STAG,
                TerminateCode.TAGGED_BOUNDS,
                TerminateCode.TAGGED_NOT_ASSOCIATED,
                TerminateCode.TAGGED_OFFSET_WRAP);
        Set<TerminateCode> operational = EnumSet.of(
                TerminateCode.LOCAL_CATASTROPHIC,
                TerminateCode.CATASTROPHIC_STREAM,
                TerminateCode.CATASTROPHIC_GLOBAL,
                TerminateCode.DDP_CATASTROPHIC,
                TerminateCode.STREAM_LOST,
                TerminateCode.CRC,
                TerminateCode.FRAMING,
                TerminateCode.MPA_CATASTROPHIC);
        for (TerminateCode code : TerminateCode.values()) {
            var a = new IwarpEnd("a", 5);
            Region into = a.region(SIZE);
            a.connection.start(new StreamTerms(true, false, false, false, 1442, 4, 4, Rtr.NONE), 0);
            a.post(SendOperation.READ, 1, into, 0, 100, 5, 6);
            a.post(SendOperation.READ, 2, into, 100, 100, 5, 6);
            a.post(SendOperation.SEND, 3, into, 0, 10, 0, 0);
            a.sent();
            a.arrive(named(code, 2));
            String status = access.contains(code)
                    ? "REM_ACCESS_ERR"
                    : operational.contains(code) ? "REM_OP_ERR" : "REM_INV_REQ_ERR";
            assertThat(a.completed())
                    .as(code.name())
                    .containsExactly("1 WR_FLUSH_ERR", "2 " + status, "3 WR_FLUSH_ERR");
            assertThat(a.connection.rootCause()).contains(code.explanation());
            assertThat(a.connection.isFinished()).isTrue();
            assertThat(a.events).isEmpty();
            assertThat(a.sent()).isEmpty();
            assertThat(a.counters.get(Counter.RECEIVED_TERMINATES)).isEqualTo(1);
        }
    }

    @Test
    void aTerminateThatNamesNoneOfOurReadsIsToldByAnEvent() {
        var a = new IwarpEnd("a", 5);
        Region from = a.region(SIZE);
        a.connection.start(new StreamTerms(true, false, false, false, 1442, 4, 4, Rtr.NONE), 0);
        a.post(SendOperation.WRITE, 1, from, 0, 100, 5, 6);
        a.receive(9, from, 0, 10);
        a.sent();
        a.arrive(named(TerminateCode.TAGGED_BOUNDS, 7));
        assertThat(a.completed()).containsExactly("1 RDMA_WRITE 100", "9 WR_FLUSH_ERR");
        assertThat(a.events).containsExactly(AsyncEvent.Type.QP_FATAL);
    }

    @Test
    void aTerminateOfSoftIwarpIsUnderstood() {
        var a = new IwarpEnd("a", 5);
        Region into = a.region(8);
        Region sink = a.region(Arena.ofAuto().allocate(100, 8), 0x261f3000, IwarpEnd.ALL);
        a.connection.start(new StreamTerms(true, false, false, false, 1442, 4, 4, Rtr.NONE), 0);
        a.post(SendOperation.READ, 1, into, 0, 0, 5, 6);
        a.post(SendOperation.READ, 2, sink, 0, 100, 5, 6);
        a.sent();
        // iwarp-terminate-read-bad-stag, packet 10, with the key of our region
        a.arrive(HexFormat.of()
                .parseHex("00464147000000000000000200000001000000001000070000004141000000000000000100000064"
                        + "00000000" + HexFormat.of().toHexDigits(sink.key())
                        + "00000000261f300000000064f4ba3f000000000029b1100000000000"));
        assertThat(a.connection.rootCause()).contains("INVALID_STAG");
        assertThat(a.completed()).containsExactly("1 WR_FLUSH_ERR", "2 REM_ACCESS_ERR");
    }

    private static byte[] named(TerminateCode code, int msn) {
        MemorySegment s = MemorySegment.ofArray(new byte[Ddp.UNTAGGED_BYTES + 6 + Ddp.UNTAGGED_BYTES]);
        Ddp.writeUntagged(s, 0, RdmapOpcode.TERMINATE, true, 0, 1, 0);
        Terminate.write(s, Ddp.UNTAGGED_BYTES, code, Terminate.HAS_LENGTH | Terminate.HAS_DDP);
        Terminate.writeSegmentLength(s, Ddp.UNTAGGED_BYTES, 28);
        Ddp.writeUntagged(s, Ddp.UNTAGGED_BYTES + 6, RdmapOpcode.READ_REQUEST, true, 0, msn, 0);
        return Fpdus.fpdu(s);
    }

    @Test
    void everyCodeIsSentAndReadAsItIs() {
        MemorySegment s = MemorySegment.ofArray(new byte[8]);
        for (TerminateCode code : TerminateCode.values()) {
            Terminate.write(s, 0, code, 0);
            assertThat(TerminateCode.of(Terminate.layer(s, 0), Terminate.type(s, 0), Terminate.code(s, 0)))
                    .isEqualTo(code);
        }
        assertThat(Fpdu.mulpdu(1460, false)).isEqualTo(1454);
        assertThat(Fpdu.mulpdu(1460, true)).isEqualTo(1442);
        assertThat(Fpdu.mulpdu(1448, false)).isEqualTo(1442);
    }
}
