package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.transport.near.PeerMemory.Progress;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// An owner that withdraws memory waits for an access that is under way, and for nothing else.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RevocationTest {
    private static final int FIRST_INDEX = 1;
    private static final int BYTES = 4096;
    private static final byte BEFORE = 1;
    private static final byte AFTER = 2;

    private final SharedHost host = new SharedHost();
    private final SharedHost.OneProcess a = host.new OneProcess(1);
    private final SharedHost.OneProcess b = host.new OneProcess(2);
    private final SharedHost.End qa = a.queuePair();
    private final SharedHost.End qb = b.queuePair();
    private final Region local = a.region(BYTES);
    private final Region remote = b.region(BYTES);
    private final AtomicBoolean isFree = new AtomicBoolean();
    private final Thread owner = new Thread(() -> isFree.set(b.memory.remove(remote)));

    @BeforeEach
    void grant() {
        host.meet(a, b);
        qa.connect(qb);
        qb.connect(qa);
        assertThat(write(remote)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(write(remote)).isEqualTo(Progress.DONE);
    }

    @AfterEach
    void close() {
        host.close();
    }

    private Progress write(Region to) {
        return qa.run(SendOperation.WRITE, local, to, 0, BYTES);
    }

    private MemorySegment pageOfA() {
        return a.ownPage(b.slot);
    }

    private void awaitParked() {
        while (owner.getState() != Thread.State.TIMED_WAITING) {
            assertThat(owner.isAlive()).as("it waits").isTrue();
            Thread.onSpinWait();
        }
    }

    @Test
    void closingARegionWaitsForTheAccessUnderWayAndNoLonger() throws InterruptedException {
        GrantPage.begin(pageOfA(), FIRST_INDEX);
        owner.start();
        awaitParked();
        assertThat(GrantPage.state(b.ownPage(a.slot), FIRST_INDEX))
                .as("no other begins")
                .isZero();
        GrantPage.end(pageOfA());
        owner.join();
        assertThat(isFree).isTrue();
    }

    @Test
    void aQueuePairThatGoesToErrWaitsToo() throws InterruptedException {
        GrantPage.begin(pageOfA(), FIRST_INDEX);
        var modifying = new Thread(() -> qb.modify(QpState.ERR));
        modifying.start();
        while (modifying.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        GrantPage.end(pageOfA());
        modifying.join();
        assertThat(b.access.givenNow()).isZero();
    }

    @Test
    void anAccessToAnotherGrantHoldsNothingUp() {
        Region other = b.region(100);
        assertThat(qa.run(SendOperation.WRITE, local, other, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        GrantPage.begin(pageOfA(), FIRST_INDEX);
        assertThat(b.memory.remove(other)).isTrue();
        GrantPage.end(pageOfA());
    }

    @Test
    void aPeerThatDiesInTheMiddleHoldsNothingUp() throws InterruptedException {
        GrantPage.begin(pageOfA(), FIRST_INDEX);
        owner.start();
        awaitParked();
        a.die();
        owner.join();
        assertThat(isFree).isTrue();
    }

    @Test
    void aPeerThatStopsInTheMiddleHoldsTheOwnerUpOnceAndGetsNoMoreGrants() {
        Region other = b.region(100);
        assertThat(qa.run(SendOperation.WRITE, local, other, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        GrantPage.begin(pageOfA(), FIRST_INDEX);
        assertThat(b.memory.remove(remote)).as("the peer may still write").isFalse();
        GrantPage.begin(pageOfA(), FIRST_INDEX + 1);
        long begin = System.nanoTime();
        assertThat(b.memory.remove(other)).isFalse();
        assertThat(System.nanoTime() - begin).as("the second time").isLessThan(200_000_000L);
        GrantPage.end(pageOfA());
        Region third = b.region(100);
        host.settle();
        assertThat(qa.run(SendOperation.WRITE, local, third, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(qa.run(SendOperation.WRITE, local, third, 0, 8)).isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void aPeerThatHasStoppedKeepsWhatAFailedQueuePairHadLent() {
        GrantPage.begin(pageOfA(), FIRST_INDEX);
        qb.modify(QpState.ERR);
        staysLentUntilThePeerGoesOn();
    }

    @Test
    void aPeerThatHasStoppedKeepsWhatHasOtherRightsNow() {
        GrantPage.begin(pageOfA(), FIRST_INDEX);
        b.memory.reregister(remote, SharedHost.DOMAIN, Access.REMOTE_READ.bit());
        staysLentUntilThePeerGoesOn();
    }

    @Test
    void aPeerThatHasStoppedKeepsWhatAWindowHadOpened() {
        var window = new Window(SharedHost.DOMAIN, 2);
        assertThat(b.memory.add(window)).isTrue();
        assertThat(b.memory.bind(
                        window,
                        9,
                        remote,
                        remote.iova(),
                        8,
                        Access.REMOTE_WRITE.bit(),
                        SharedHost.DOMAIN,
                        qb.parameters.qpn))
                .isEqualTo(MemoryVerdict.OK);
        SharedHost.Request byWindow = qa.request(SendOperation.WRITE, local, remote, 0, 8);
        byWindow.request().rkey = window.key();
        assertThat(byWindow.run()).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(byWindow.run()).isEqualTo(Progress.DONE);
        GrantPage.begin(pageOfA(), FIRST_INDEX + 1);
        assertThat(b.memory.invalidate(window.key(), SharedHost.DOMAIN, qb.parameters.qpn))
                .isEqualTo(MemoryVerdict.OK);
        staysLentUntilThePeerGoesOn();
    }

    /// The peer may write to the memory of the region, whatever has taken the grant back.
    private void staysLentUntilThePeerGoesOn() {
        Region above = b.register(remote.memory(), SharedHost.ALL);
        assertThat(b.memory.remove(above)).as("another region").isTrue();
        assertThat(b.memory.remove(remote)).as("the peer may still write").isFalse();
        GrantPage.end(pageOfA());
        assertThat(b.memory.remove(remote)).as("once the peer has gone on").isTrue();
    }

    @Test
    void anInterruptEndsNoWait() throws InterruptedException {
        GrantPage.begin(pageOfA(), FIRST_INDEX);
        var wasInterrupted = new AtomicBoolean();
        var interrupted = new Thread(() -> {
            isFree.set(b.memory.remove(remote));
            wasInterrupted.set(Thread.currentThread().isInterrupted());
        });
        interrupted.start();
        interrupted.interrupt();
        while (interrupted.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        GrantPage.end(pageOfA());
        interrupted.join();
        assertThat(isFree).isTrue();
        assertThat(wasInterrupted).isTrue();
    }

    /// The peer asks for a key of a file, and then unmaps the file because its only grant there is withdrawn. The
    /// owner still takes the file for mapped when it answers.
    @Test
    void aGrantThatCrossesTheEndOfItsFileIsAskedForAgain() {
        MemorySegment memory = b.allocate(BYTES, true);
        Region first = b.register(memory, SharedHost.ALL);
        assertThat(write(first)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(write(first)).isEqualTo(Progress.DONE);
        assertThat(b.memory.remove(first)).isTrue();
        Region second = b.register(memory, SharedHost.ALL);
        assertThat(write(second)).as("it is asked for").isEqualTo(Progress.BY_PACKETS);
        a.receive(); // the first is withdrawn, and the file unmapped
        host.settle();
        assertThat(write(second)).as("it is asked for again").isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(write(second)).isEqualTo(Progress.DONE);
    }

    /// The peer writes as fast as it can while the owner closes regions over the same memory again and again.
    @Test
    void nothingIsWrittenAfterTheRegionIsClosed() throws InterruptedException {
        MemorySegment memory = b.allocate(BYTES, true);
        MemorySegment untouched = host.arena.allocate(BYTES).fill(AFTER);
        local.memory().fill(BEFORE);
        var target = new AtomicReference<@Nullable Region>();
        var written = new AtomicInteger();
        var isOver = new AtomicBoolean();
        var peer = new Thread(() -> {
            while (!isOver.get()) {
                a.receive();
                Region to = target.get();
                if (to != null && write(to) == Progress.DONE) {
                    written.incrementAndGet();
                }
            }
        });
        peer.start();
        try {
            for (int round = 0; round < 40; round++) {
                Region region = b.register(memory, SharedHost.ALL);
                host.pass(GrantsHeld.AGAIN_NANOS); // what was asked for too late is forgotten
                int before = written.get();
                target.set(region);
                while (written.get() < before + 3) {
                    b.receive();
                }
                assertThat(b.memory.remove(region)).isTrue();
                memory.fill(AFTER);
                for (int i = 0; i < 50; i++) {
                    assertThat(memory.mismatch(untouched)).isEqualTo(-1);
                }
            }
        } finally {
            isOver.set(true);
            peer.join();
        }
    }
}
