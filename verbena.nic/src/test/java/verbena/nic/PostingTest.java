package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;
import verbena.verbs.FlushTarget;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;

/// Requests that can be posted, and the messages about those that cannot.
class PostingTest {
    private final Pair pair = Pair.connected();
    private final Pair.End a = pair.a;
    private final Pair.End b = pair.b;

    @AfterEach
    void close() {
        pair.close();
    }

    private static AbstractThrowableAssert<?, ?> refused(Class<? extends Throwable> type, ThrowingCallable call) {
        return assertThatThrownBy(call).isExactlyInstanceOf(type);
    }

    // ---- state

    @Test
    void sendsAreRefusedBeforeRts() {
        var qp = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
        refused(InvalidStateException.class, qp::sendBatch)
                .hasMessage(
                        "send: %s is in RESET; sends can be posted from RTS on (connect, or modify to INIT, RTR"
                                + " and RTS)",
                        qp);
        qp.modify(new Transition.ToInit(Access.remoteAll()));
        refused(InvalidStateException.class, qp::sendBatch).hasMessageContaining("is in INIT");
    }

    @Test
    void receivesAreRefusedBeforeInit() {
        var qp = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
        refused(InvalidStateException.class, qp::receiveBatch)
                .hasMessage("receive: %s is in RESET; receives can be posted from INIT on", qp);
        qp.modify(new Transition.ToInit(Access.remoteAll()));
        qp.postReceive(1, a.memory.slice(0, 8));
    }

    @Test
    void nothingIsPostedOnAClosedQueuePair() {
        a.qp.close();
        refused(InvalidStateException.class, a.qp::sendBatch).hasMessage("send: %s is closed", a.qp);
        refused(InvalidStateException.class, a.qp::receiveBatch).hasMessage("receive: %s is closed", a.qp);
    }

    @Test
    void aBatchOpenWhileItsQueuePairIsClosedSubmitsNothing() {
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1).inline(MemorySegment.ofArray(new byte[8]));
            a.qp.close();
            refused(InvalidStateException.class, batch::submit).hasMessage("submit: %s is closed", a.qp);
        }
    }

    @Test
    void whatIsPostedInErrIsFlushed() {
        a.qp.modify(new Transition.ToError());
        a.qp.postSend(1, a.memory.slice(0, 8));
        a.qp.postReceive(2, a.memory.slice(0, 8));
        pair.settle();
        assertThat(a.completions()).containsExactly("1 WR_FLUSH_ERR", "2 WR_FLUSH_ERR");
    }

    @Test
    void resetForgetsWhatIsPosted() {
        a.qp.postSend(1, a.memory.slice(0, 8));
        a.qp.modify(new Transition.ToReset());
        pair.settle();
        assertThat(a.completions()).isEmpty();
        assertThat(a.qp.query().peer().destinationQpn()).isZero();
        assertThat(a.qp.query().peer().path()).isEmpty();
    }

    @Test
    void resetInTheMiddleOfABatchIsRefused() {
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1);
            refused(InvalidStateException.class, () -> a.qp.modify(new Transition.ToReset()))
                    .hasMessage("modify: this thread has a batch of %s open; close it first", a.qp);
            batch.discard();
        }
        try (ReceiveBatch batch = a.qp.receiveBatch()) {
            batch.receive(1);
            refused(InvalidStateException.class, () -> a.qp.modify(new Transition.ToReset()))
                    .hasMessage("modify: this thread has a batch of %s open; close it first", a.qp);
            batch.discard();
        }
        a.qp.modify(new Transition.ToReset());
    }

    // ---- the batch

    @Test
    void aBatchThatIsDiscardedIsTakenBack() {
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.write(1, b.memory.address(), b.memory.rkey())
                    .sge(a.memory, 0, 8)
                    .signaled();
            batch.discard();
            assertThat(batch.submit()).isZero();
        }
        a.qp.postWrite(2, a.memory.slice(0, 8), b.memory.remote());
        pair.settle();
        assertThat(a.completions()).containsExactly("2 SUCCESS");
    }

    @Test
    void aBatchThatIsForgottenIsAnError() {
        SendBatch sends = a.qp.sendBatch();
        sends.send(1).sge(a.memory, 0, 8).signaled();
        sends.send(2);
        refused(InvalidStateException.class, sends::close)
                .hasMessage("close: 2 requests were not submitted: submit() hands them over, discard() drops them");
        ReceiveBatch receives = b.qp.receiveBatch();
        receives.receive(1).sge(b.memory, 0, 8);
        refused(InvalidStateException.class, receives::close)
                .hasMessage("close: 1 receive was not submitted: submit() hands them over, discard() drops them");
        a.qp.postWrite(3, a.memory.slice(0, 8), b.memory.remote()); // the turn was given back
        pair.settle();
        assertThat(a.completions()).containsExactly("3 SUCCESS");
    }

    @Test
    void aBatchThatMetAMistakeClosesInSilence() {
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1).sge(a.memory, 0, 8).signaled();
            refused(IndexOutOfBoundsException.class, () -> batch.send(2).sge(a.memory, -1, 8));
        }
        SendBatch mended = a.qp.sendBatch();
        refused(IndexOutOfBoundsException.class, () -> mended.send(1).sge(a.memory, -1, 8));
        mended.send(2).sge(a.memory, 0, 8);
        refused(InvalidStateException.class, mended::close).hasMessageStartingWith("close: 1 request was");
        pair.settle();
        assertThat(a.completions()).isEmpty();
    }

    @Test
    void aBatchCanBeFilledAgainAfterSubmission() {
        try (SendBatch batch = a.qp.sendBatch()) {
            for (int i = 0; i < 3; i++) {
                batch.write(2L * i, b.memory.address(), b.memory.rkey())
                        .sge(a.memory, 0, 8)
                        .signaled();
                batch.write(2L * i + 1, b.memory.address(), b.memory.rkey())
                        .sge(a.memory, 0, 8)
                        .signaled();
                assertThat(batch.submit()).isEqualTo(2);
            }
            assertThat(batch.submit()).isZero();
        }
        pair.settle();
        assertThat(a.completions())
                .containsExactly("0 SUCCESS", "1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS", "5 SUCCESS");
    }

    @Test
    void oneThreadHasOneBatchOpen() {
        try (SendBatch _ = a.qp.sendBatch()) {
            refused(InvalidStateException.class, a.qp::sendBatch)
                    .hasMessage("send: this thread has a batch of %s open; close it first", a.qp);
        }
        try (ReceiveBatch _ = a.qp.receiveBatch()) {
            refused(InvalidStateException.class, a.qp::receiveBatch)
                    .hasMessage("receive: this thread has a batch of %s open; close it first", a.qp);
        }
    }

    @Test
    void aClosedBatchIsDead() {
        SendBatch sends = a.qp.sendBatch();
        sends.close();
        sends.close();
        refused(InvalidStateException.class, () -> sends.send(1)).hasMessage("batch: not open, or another thread's");
        refused(InvalidStateException.class, sends::submit);
        ReceiveBatch receives = a.qp.receiveBatch();
        receives.close();
        receives.close();
        refused(InvalidStateException.class, () -> receives.receive(1));
        refused(InvalidStateException.class, receives::submit);
    }

    @Test
    void whatBelongsToARequestNeedsOne() {
        try (SendBatch batch = a.qp.sendBatch()) {
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> batch.sge(a.memory, 0, 8),
                    () -> batch.sge(1, 2, 3),
                    () -> batch.inline(MemorySegment.ofArray(new byte[1])),
                    batch::signaled,
                    batch::fenced,
                    batch::solicited)) {
                refused(InvalidStateException.class, call)
                        .hasMessage("batch: begin a request first: send, write, read, ...");
            }
        }
        try (ReceiveBatch batch = a.qp.receiveBatch()) {
            refused(InvalidStateException.class, () -> batch.sge(a.memory, 0, 8))
                    .hasMessage("batch: begin with receive(wrId)");
        }
    }

    @Test
    void aMistakeNamesItsPlaceAndLeavesTheOthers() {
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.write(5, b.memory.address(), b.memory.rkey())
                    .sge(a.memory, 0, 8)
                    .signaled();
            batch.write(6, b.memory.address(), b.memory.rkey())
                    .sge(a.memory, 0, 8)
                    .signaled();
            batch.write(7, b.memory.address(), b.memory.rkey());
            for (int i = 0; i < 4; i++) {
                batch.sge(a.memory, 8L * i, 8);
            }
            refused(IllegalArgumentException.class, () -> batch.sge(a.memory, 32, 8))
                    .hasMessage("batch request 3 (wrId 7): sge: 5 entries, maxSendSge is 4");
            refused(InvalidStateException.class, batch::signaled);
            batch.write(8, b.memory.address(), b.memory.rkey())
                    .sge(a.memory, 0, 8)
                    .signaled();
            assertThat(batch.submit()).isEqualTo(3);
        }
        pair.settle();
        assertThat(a.completions()).containsExactly("5 SUCCESS", "6 SUCCESS", "8 SUCCESS");
    }

    @Test
    void aReceiveWithAMistakeIsNotPosted() {
        try (ReceiveBatch batch = b.qp.receiveBatch()) {
            batch.receive(1).sge(b.memory, 0, 100);
            batch.receive(2).sge(b.memory, 0, 100);
            refused(IndexOutOfBoundsException.class, () -> batch.sge(b.memory, Pair.MEMORY_BYTES, 1))
                    .hasMessage("batch receive 2 (wrId 2): sge: offset 65536 and length 1 are not inside the region's"
                            + " 65536 bytes");
            batch.receive(3).sge(b.memory, 0, 100);
            assertThat(batch.submit()).isEqualTo(2);
        }
        a.qp.postSend(1, a.memory.slice(0, 8));
        a.qp.postSend(2, a.memory.slice(0, 8));
        pair.settle();
        assertThat(b.completions()).containsExactly("1 SUCCESS", "3 SUCCESS");
    }

    // ---- limits

    @Test
    void aFullSendQueueIsNamed() {
        a.wire.loses = _ -> true;
        for (int i = 0; i < 128; i++) {
            a.qp.postSend(i, a.memory.slice(0, 8));
        }
        refused(ResourceLimitException.class, () -> a.qp.postSend(128, a.memory.slice(0, 8)))
                .hasMessage("batch request 1 (wrId 128): maxSendWr is 128; the send queue is full; a request leaves it"
                        + " when it, or one after it, has completed");
    }

    @Test
    void aFullReceiveQueueIsNamed() {
        for (int i = 0; i < 128; i++) {
            a.qp.postReceive(i, a.memory.slice(0, 8));
        }
        refused(ResourceLimitException.class, () -> a.qp.postReceive(128, a.memory.slice(0, 8)))
                .hasMessage("batch receive 1 (wrId 128): maxReceiveWr is 128; the receive queue of %s is full", a.qp);
    }

    @Test
    void aFullSharedReceiveQueueIsNamed() {
        var srq = a.domain.createSharedReceiveQueue(3, 1);
        for (int i = 0; i < 3; i++) {
            srq.postReceive(i, a.memory.slice(0, 8));
        }
        refused(ResourceLimitException.class, () -> srq.postReceive(3, a.memory.slice(0, 8)))
                .hasMessageContaining("maxWr is 3");
        try (ReceiveBatch batch = a.domain.createSharedReceiveQueue(1, 1).receiveBatch()) {
            batch.receive(1).sge(a.memory, 0, 8);
            refused(IllegalArgumentException.class, () -> batch.sge(a.memory, 8, 8))
                    .hasMessage("batch receive 1 (wrId 1): sge: 2 entries, maxSge is 1");
        }
    }

    @Test
    void aSharedReceiveQueueOfAnotherDomainTakesThatDomainsMemory() {
        var other = b.context.allocateProtectionDomain();
        MemoryRegion memory = other.allocate(64, Access.remoteAll());
        var srq = other.createSharedReceiveQueue(4, 1);
        for (boolean ofTheQueue : new boolean[] {true, false}) {
            try (var from = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
                    var to = b.domain.createQueuePair(QueuePairOptions.rc(b.cq).withSharedReceiveQueue(srq))) {
                from.connect(to.endpoint());
                to.connect(from.endpoint());
                MemoryRegion into = ofTheQueue ? memory : b.memory;
                try (ReceiveBatch batch = srq.receiveBatch()) {
                    batch.receive(1).sge(into.lkey(), into.address(), 64).submit();
                }
                from.postSend(2, a.memory.slice(0, 8));
                pair.settle();
                assertThat(b.completions()).containsExactly(ofTheQueue ? "1 SUCCESS" : "1 LOC_PROT_ERR");
                assertThat(a.completions()).containsExactly(ofTheQueue ? "2 SUCCESS" : "2 REM_OP_ERR");
                if (ofTheQueue) { // requests other than receives belong to the queue pair
                    from.postWrite(3, a.memory.slice(0, 8), memory.remote());
                    pair.settle();
                    assertThat(a.completions()).containsExactly("3 REM_ACCESS_ERR");
                }
            }
        }
    }

    @Test
    void inlineDataHasItsLimits() {
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1).inline(MemorySegment.ofArray(new byte[60]));
            refused(ResourceLimitException.class, () -> batch.inline(MemorySegment.ofArray(new byte[5])))
                    .hasMessage("batch request 1 (wrId 1): inline: maxInlineBytes is 64; 65 bytes do not fit; make the"
                            + " queue pair with more, or use sge");
            batch.send(2).sge(a.memory, 0, 8);
            refused(IllegalArgumentException.class, () -> batch.inline(MemorySegment.ofArray(new byte[1])))
                    .hasMessageContaining("has scatter/gather entries");
            batch.send(3).inline(MemorySegment.ofArray(new byte[1]));
            refused(IllegalArgumentException.class, () -> batch.sge(a.memory, 0, 8))
                    .hasMessageContaining("data is inline");
            batch.read(4, b.memory.address(), b.memory.rkey());
            refused(IllegalArgumentException.class, () -> batch.inline(MemorySegment.ofArray(new byte[1])))
                    .hasMessage("batch request 1 (wrId 4): inline: READ carries no data; SEND and WRITE do");
            assertThat(batch.submit()).isZero();
        }
    }

    @Test
    void inlineDataIsCopiedAtOnce() {
        byte[] data = {1, 2, 3, 4, 5};
        b.qp.postReceive(1, b.memory.slice(0, 64));
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1).inline(MemorySegment.ofArray(data)).inline(MemorySegment.ofArray(new byte[] {6}));
            data[0] = 99;
            batch.submit();
        }
        pair.settle();
        assertThat(b.memory.segment().asSlice(0, 6).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE))
                .containsExactly(1, 2, 3, 4, 5, 6);
    }

    @Test
    void aMessageHasAtMostTwoGibibytes() {
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1).sge(1, 0, Integer.MAX_VALUE).sge(1, 0, 1);
            refused(IllegalArgumentException.class, () -> batch.sge(1, 0, 1))
                    .hasMessage("batch request 1 (wrId 1): sge: the entries sum up to more than 2^31 bytes");
        }
        try (ReceiveBatch batch = a.qp.receiveBatch()) {
            batch.receive(1).sge(1, 0, Integer.MAX_VALUE).sge(1, 0, 1);
            refused(IllegalArgumentException.class, () -> batch.sge(1, 0, 1)).hasMessageContaining("2^31");
        }
    }

    // ---- regions

    @Test
    void aRegionOfAnotherDomainIsRefusedAtOnceAndItsKeyInACompletion() {
        var other = a.context.allocateProtectionDomain();
        MemoryRegion foreign = other.allocate(64, Access.remoteAll());
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1);
            refused(IllegalArgumentException.class, () -> batch.sge(foreign, 0, 8))
                    .hasMessage(
                            "batch request 1 (wrId 1): sge: region: of %s, and the request is of %s", other, a.domain);
            batch.send(2).sge(foreign.lkey(), foreign.address(), 8);
            batch.submit();
        }
        pair.settle();
        assertThat(a.completions()).containsExactly("2 LOC_PROT_ERR");
        foreign.close();
        other.close();
    }

    @Test
    void aRangeOutsideItsRegionIsRefused() {
        for (long[] range :
                new long[][] {{-1, 8}, {Pair.MEMORY_BYTES - 7, 8}, {Long.MAX_VALUE, 8}, {1, Pair.MEMORY_BYTES}}) {
            try (SendBatch batch = a.qp.sendBatch()) {
                batch.send(1);
                refused(IndexOutOfBoundsException.class, () -> batch.sge(a.memory, range[0], range[1]));
            }
        }
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1);
            refused(IllegalArgumentException.class, () -> batch.sge(a.memory, 0, -1))
                    .hasMessage("batch request 1 (wrId 1): sge: length: not negative, got -1");
            batch.send(2);
            refused(IllegalArgumentException.class, () -> batch.sge(1, 0, -1));
            batch.send(3).sge(a.memory, Pair.MEMORY_BYTES, 0);
            batch.discard();
        }
    }

    @Test
    void aClosedRegionIsRefused() {
        MemoryRegion region = a.domain.allocate(64, Access.local());
        region.close();
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.send(1);
            refused(InvalidStateException.class, () -> batch.sge(region, 0, 8))
                    .hasMessage("batch request 1 (wrId 1): sge: region: %s is closed", region);
        }
    }

    // ---- operations

    @Test
    void anAtomicTakesOneEntryOfEightBytes() {
        try (SendBatch batch = a.qp.sendBatch()) {
            batch.fetchAdd(1, b.memory.address(), b.memory.rkey(), 1);
            refused(IllegalArgumentException.class, batch::submit)
                    .hasMessage("batch request 1 (wrId 1): FETCH_ADD: the value before goes to exactly one sge of 8"
                            + " bytes, got 0 of them");
            batch.compareSwap(2, b.memory.address(), b.memory.rkey(), 1, 2).sge(a.memory, 0, 4);
            refused(IllegalArgumentException.class, () -> batch.send(3)).hasMessageEndingWith("got one of 4 bytes");
            batch.fetchAdd(4, b.memory.address(), b.memory.rkey(), 1)
                    .sge(a.memory, 0, 4)
                    .sge(a.memory, 4, 4);
            refused(IllegalArgumentException.class, batch::submit).hasMessageEndingWith("got 2 of them");
            assertThat(batch.submit()).isZero();
        }
    }

    @Test
    void aMisalignedAtomicIsTheRespondersBusiness() {
        a.qp.postFetchAdd(1, b.memory.remote().slice(4), 1, a.memory.slice(0, 8));
        pair.settle();
        assertThat(a.completions()).containsExactly("1 REM_INV_REQ_ERR");
    }

    @Test
    void extensionsArePostedOnlyWhereTheyAreEnabled() {
        try (SendBatch batch = a.qp.sendBatch()) {
            refused(InvalidStateException.class, () -> batch.atomicWrite(1, 0, 0, 0))
                    .hasMessage("batch request 1 (wrId 1): this queue pair was not made for ATOMIC_WRITE; see"
                            + " QueuePairOptions.withExtensions");
            refused(InvalidStateException.class, () -> batch.flush(2, 0, 0, 0, Set.of(FlushTarget.GLOBAL)))
                    .hasMessageContaining("not made for FLUSH");
            assertThat(batch.submit()).isZero();
        }
    }

    @Test
    void aBindIsJudgedByItsObjects() {
        var other = a.context.allocateProtectionDomain();
        MemoryWindow window = a.domain.allocateWindow(MemoryWindow.Type.TYPE_2);
        MemoryWindow foreignWindow = other.allocateWindow(MemoryWindow.Type.TYPE_2);
        MemoryRegion foreign = other.allocate(64, Access.remoteAll());
        MemoryWindow closed = a.domain.allocateWindow(MemoryWindow.Type.TYPE_1);
        closed.close();
        Set<Access> read = Set.of(Access.REMOTE_READ);
        try (SendBatch batch = a.qp.sendBatch()) {
            refused(InvalidStateException.class, () -> batch.bindWindow(1, closed, 0, a.memory, 0, 8, read))
                    .hasMessage("batch request 1 (wrId 1): bindWindow: %s is closed", closed);
            refused(IllegalArgumentException.class, () -> batch.bindWindow(1, foreignWindow, 0, a.memory, 0, 8, read))
                    .hasMessageContaining("bindWindow: window: of " + other);
            refused(IllegalArgumentException.class, () -> batch.bindWindow(1, window, 0, foreign, 0, 8, read))
                    .hasMessageContaining("bindWindow: region: of " + other);
            refused(IllegalArgumentException.class, () -> batch.bindWindow(1, window, 0, a.memory, 0, -8, read))
                    .hasMessageContaining("bindWindow: length: not negative, got -8");
            refused(
                            IllegalArgumentException.class,
                            () -> batch.bindWindow(1, window, 0, a.memory, 0, 8, Set.of(Access.LOCAL_WRITE)))
                    .hasMessageContaining("bindWindow: access:");
            batch.bindWindow(2, window, window.nextRkey(), a.memory, a.memory.address(), 8, read);
            refused(IllegalArgumentException.class, () -> batch.sge(a.memory, 0, 8))
                    .hasMessage("batch request 1 (wrId 2): sge: BIND_WINDOW has no data");
            assertThat(batch.submit()).isZero();
        }
    }

    @Test
    void severalThreadsPostWholeBatches() throws InterruptedException {
        a.cq.resize(1 << 14); // the device rests only when the posters do, so all completions may wait
        int threads = 4;
        int rounds = 300;
        var workers = new ArrayList<Thread>();
        for (int t = 0; t < threads; t++) {
            int of = t;
            workers.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < rounds; i++) {
                    try (SendBatch batch = a.qp.sendBatch()) {
                        // A pair of requests stays together while other threads post.
                        batch.write(of * 1_000_000L + 2L * i, b.memory.address(), b.memory.rkey())
                                .sge(a.memory, 0, 8)
                                .signaled();
                        batch.write(of * 1_000_000L + 2L * i + 1, b.memory.address(), b.memory.rkey())
                                .sge(a.memory, 0, 8)
                                .signaled();
                        batch.submit();
                    } catch (ResourceLimitException e) {
                        i--;
                        Thread.onSpinWait();
                    }
                }
            }));
        }
        var seen = new ArrayList<Long>();
        for (int i = 0; seen.size() < threads * rounds * 2; i++) {
            assertThat(i).as("rounds without an end").isLessThan(1_000_000);
            a.context.drive();
            b.context.drive();
            for (String completion : a.completions()) {
                assertThat(completion).endsWith(" SUCCESS");
                seen.add(Long.parseLong(completion.substring(0, completion.indexOf(' '))));
            }
        }
        for (Thread worker : workers) {
            worker.join();
        }
        for (int i = 0; i < seen.size(); i += 2) {
            assertThat(seen.get(i + 1)).isEqualTo(seen.get(i) + 1);
        }
        assertThat(seen).doesNotHaveDuplicates();
    }

    @Test
    void arenasThatCloseInFlightEndInACompletion() {
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion region = a.domain.register(arena.allocate(64), Access.local());
            a.qp.postWrite(1, region.slice(0, 64), b.memory.remote());
        }
        pair.settle();
        assertThat(a.completions()).containsExactly("1 LOC_PROT_ERR");
        assertThat(a.qp.state()).isEqualTo(QpState.ERR);
    }

    @Test
    void aPeersArenaThatClosesInFlightIsRefusedByTheResponder() {
        MemoryRegion region;
        try (Arena arena = Arena.ofShared()) {
            region = b.domain.register(arena.allocate(64), Access.remoteAll());
            a.qp.postWrite(1, a.memory.slice(0, 64), region.remote());
        }
        pair.settle();
        assertThat(a.completions()).singleElement().asString().matches("1 REM_(OP|ACCESS)_ERR");
    }

    @Test
    void sqdHoldsWhatIsPosted() {
        a.qp.modify(new Transition.ToSqd(true));
        a.qp.postWrite(1, a.memory.slice(0, 8), b.memory.remote());
        pair.settle();
        assertThat(a.completions()).isEmpty();
        a.qp.modify(new QpModification().withState(QpState.RTS));
        pair.settle();
        assertThat(a.completions()).containsExactly("1 SUCCESS");
    }
}
