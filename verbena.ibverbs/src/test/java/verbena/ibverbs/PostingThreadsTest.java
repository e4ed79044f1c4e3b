package verbena.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.ibverbs.objects.IbvQueuePair;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;

/// Threads that post to one queue pair, and one that closes it, with the library that writes down what it is told.
@Timeout(180)
class PostingThreadsTest {
    private Stub stub;
    private IbvContext context;
    private ProtectionDomain domain;
    private CompletionQueue cq;
    private MemoryRegion region;
    private QueuePair qp;

    @BeforeEach
    void open() throws Exception {
        stub = Stub.load();
        context = stub.open();
        domain = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(64);
        region = domain.allocate(4096, Access.remoteAll());
        qp = domain.createQueuePair(QueuePairOptions.rc(cq));
        qp.modify(new Transition.ToInit(Access.remoteAll()));
        qp.modify(new Transition.ToRtr(
                AddressVector.to(Gid.parse("192.0.2.8"), 3), Mtu.MTU_1024, 1, 0, 1, new RnrTimer(12)));
        qp.modify(new Transition.ToRts(0, new AckTimeout(14), 7, 7, 1));
        stub.told();
    }

    @AfterEach
    void close() {
        if (context != null) { // it is skipped where there is no compiler
            qp.close();
            region.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    @Test
    void batchesOfSeveralThreadsStayWhole() throws Exception {
        var together = new CyclicBarrier(3);
        var posters = new ArrayList<CompletableFuture<Void>>();
        for (int thread = 0; thread < 3; thread++) {
            int first = 100 * thread;
            posters.add(CompletableFuture.runAsync(
                    () -> {
                        meet(together);
                        for (int i = 0; i < 100; i++) {
                            post(first + i, 3);
                        }
                    },
                    each -> new Thread(each).start()));
        }
        for (var poster : posters) {
            poster.get();
        }
        List<String> told = stub.told().lines().toList();
        assertThat(told).hasSize(900);
        var seen = new HashSet<String>();
        for (int i = 0; i < told.size(); i += 3) {
            assertThat(told.subList(i, i + 3)).containsOnly(told.get(i));
            assertThat(seen.add(told.get(i))).isTrue();
        }
    }

    /// A batch of requests that all have one number; others have every chance to come between.
    @SuppressWarnings("ThreadPriorityCheck") // makes a mistake more likely to show; nothing relies on it
    private void post(int wrId, int requests) {
        try (SendBatch batch = qp.sendBatch()) {
            for (int i = 0; i < requests; i++) {
                batch.write(wrId, 8192, 2).sge(region, 0, 8);
                Thread.yield();
            }
            assertThat(batch.submit()).isEqualTo(requests);
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void postersMeetAQueuePairThatIsClosedUnderWay() throws Exception {
        var posted = new AtomicInteger();
        var posters = new ArrayList<CompletableFuture<Void>>();
        for (int thread = 0; thread < 2; thread++) {
            posters.add(CompletableFuture.runAsync(
                    () -> {
                        while (true) {
                            post(1, 1);
                            posted.incrementAndGet();
                        }
                    },
                    each -> new Thread(each).start()));
        }
        while (posted.get() < 100) {
            Thread.onSpinWait();
        }
        qp.close();
        stub.told(); // what follows would be told by C after its queue pair was freed
        for (var poster : posters) {
            assertThatThrownBy(poster::get)
                    .hasCauseInstanceOf(InvalidStateException.class)
                    .hasMessageEndingWith("queue pair 0x123456 is closed");
        }
        assertThat(stub.told()).isEmpty();
    }

    @Test
    void closingWaitsForTheBatchOfAnotherThread() throws Exception {
        SendBatch batch = qp.sendBatch();
        var closing = CompletableFuture.runAsync(qp::close, each -> new Thread(each).start());
        while (((IbvQueuePair) qp).isOpen()) {
            Thread.onSpinWait();
        }
        batch.write(1, 8192, 2).sge(region, 0, 8);
        assertThatThrownBy(batch::submit)
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("submit: queue pair 0x123456 is closed");
        assertThat(qp.state()).isEqualTo(QpState.RESET); // closing does not hold what this needs
        assertThat(closing).isNotDone();
        batch.close();
        closing.get();
        assertThat(stub.told()).isEmpty();
    }

    @Test
    void closingWithinOnesOwnBatchEndsTheBatch() {
        try (SendBatch batch = qp.sendBatch()) {
            batch.write(1, 8192, 2).sge(region, 0, 8);
            qp.close();
            assertThatThrownBy(batch::submit)
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessage("batch: queue pair 0x123456 is closed");
        }
        assertThatThrownBy(() -> qp.sendBatch())
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("send: queue pair 0x123456 is closed");
        assertThat(stub.told()).isEmpty();
    }

    @Test
    void aThreadHasOneBatchOpenAndNoOtherMayTouchIt() throws Exception {
        try (SendBatch batch = qp.sendBatch()) {
            assertThatThrownBy(() -> qp.sendBatch())
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessage("send: this thread has a batch of queue pair 0x123456 open; close it first");
            assertThatThrownBy(() ->
                            CompletableFuture.runAsync(() -> batch.send(1)).get(30, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(InvalidStateException.class)
                    .hasMessageEndingWith("batch: not open, or another thread's");
            assertThat(batch.send(2).sge(region, 0, 8).submit()).isOne();
        }
    }

    @Test
    void anInterruptIsKeptForAfterTheWaitForTheTurn() throws Exception {
        var wasInterrupted = new CompletableFuture<Boolean>();
        var waiting = new Thread(() -> {
            Thread.currentThread().interrupt();
            post(2, 1);
            wasInterrupted.complete(Thread.interrupted());
        });
        try (SendBatch batch = qp.sendBatch()) {
            waiting.start();
            while (waiting.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            batch.write(1, 8192, 2).sge(region, 0, 8).submit();
        }
        assertThat(wasInterrupted.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(stub.told().lines().map(line -> line.charAt(0))).containsExactly('1', '2');
    }
}
