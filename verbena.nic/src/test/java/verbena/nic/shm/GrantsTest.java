package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.nic.shm.GrantMessage.Kind;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.transport.near.PeerMemory.Progress;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// Grants: who gets one, what it allows, and what withdraws it.
class GrantsTest {
    private static final int READ = Access.REMOTE_READ.bit();

    final SharedHost host = new SharedHost();
    final SharedHost.OneProcess a = host.new OneProcess(1);
    final SharedHost.OneProcess b = host.new OneProcess(2);
    final SharedHost.End qa = a.queuePair();
    final SharedHost.End qb = b.queuePair();
    final Region local = a.region(4096);
    final Region remote = b.region(4096);

    GrantsTest() {
        host.meet(a, b);
        qa.connect(qb);
        qb.connect(qa);
    }

    @AfterEach
    void close() {
        host.close();
    }

    private Progress write(Region to) {
        return qa.run(SendOperation.WRITE, local, to, 16, 100);
    }

    private Progress writeAfterAsking(Region to) {
        assertThat(write(to)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        return write(to);
    }

    private long count(SharedHost.OneProcess of, Kind kind) {
        return of.heard.stream().filter(each -> each == kind).count();
    }

    // ---- who gets one

    @Test
    void theFirstRequestAsksAndTheNextIsDirect() {
        local.memory().set(ValueLayout.JAVA_LONG, 0, 42);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(42);
        for (int i = 0; i < 10; i++) {
            assertThat(write(remote)).isEqualTo(Progress.DONE);
        }
        assertThat(b.heard).containsExactly(Kind.ASKED);
        assertThat(host.open()).as("descriptors left open").isZero();
    }

    @Test
    void whileNothingIsAnsweredItIsAskedForOnceInTenMilliseconds() {
        for (int i = 0; i < 10; i++) {
            assertThat(write(remote)).isEqualTo(Progress.BY_PACKETS);
        }
        assertThat(b.arriving).hasSize(1);
        host.pass(GrantsHeld.AGAIN_NANOS);
        assertThat(write(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(b.arriving).hasSize(2);
        host.settle();
        assertThat(write(remote)).isEqualTo(Progress.DONE);
        assertThat(b.access.givenNow()).as("both answers are one grant").isEqualTo(1);
    }

    @Test
    void whatIsDeclinedIsAskedForAgainAfterTenMilliseconds() {
        Region elsewhere = b.register(host.arena.allocate(100, 8), SharedHost.ALL); // in no file
        for (int i = 0; i < 10; i++) {
            assertThat(writeAfterAsking(elsewhere)).isEqualTo(Progress.BY_PACKETS);
        }
        assertThat(a.heard).containsExactly(Kind.DECLINED);
        host.pass(GrantsHeld.AGAIN_NANOS);
        assertThat(writeAfterAsking(elsewhere)).isEqualTo(Progress.BY_PACKETS);
        assertThat(a.heard).containsExactly(Kind.DECLINED, Kind.DECLINED);
    }

    @Test
    void aNewConnectionAsksAtOnce() {
        Region elsewhere = b.register(host.arena.allocate(100, 8), SharedHost.ALL);
        assertThat(writeAfterAsking(elsewhere)).isEqualTo(Progress.BY_PACKETS);
        qa.modify(QpState.RESET);
        qa.connect(qb);
        assertThat(writeAfterAsking(elsewhere)).isEqualTo(Progress.BY_PACKETS);
        assertThat(count(a, Kind.DECLINED)).isEqualTo(2);
    }

    @Test
    void onlyTheConnectedPeerGetsOne() {
        SharedHost.OneProcess c = host.new OneProcess(3);
        host.meet(c, b);
        Region ofC = c.region(100);
        SharedHost.End qc = c.queuePair();
        qc.connect(qb); // which is connected to qa
        assertThat(qc.run(SendOperation.WRITE, ofC, remote, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(c.heard).containsExactly(Kind.DECLINED);
        SharedHost.End another = a.queuePair();
        another.connect(qb);
        assertThat(another.run(SendOperation.WRITE, local, remote, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(a.heard).containsExactly(Kind.DECLINED);
    }

    @Test
    void aQueuePairThatIsNotConnectedGivesNone() {
        for (QpState state : List.of(QpState.RESET, QpState.INIT, QpState.ERR)) {
            qb.modify(state);
            host.pass(GrantsHeld.AGAIN_NANOS);
            assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
        }
        qb.modify(QpState.RTR);
        host.pass(GrantsHeld.AGAIN_NANOS);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
    }

    @Test
    void anotherProtectionDomainGivesNone() {
        Region foreign = b.region(100);
        b.memory.reregister(foreign, SharedHost.DOMAIN + 1, SharedHost.ALL);
        assertThat(writeAfterAsking(foreign)).isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void aPeerThatAsksForSixteenKeysThatDoNotExistGetsNoMoreGrants() {
        for (int i = 0; i < GrantsGiven.REFUSALS_MAX; i++) {
            SharedHost.Request guess = qa.request(SendOperation.READ, local, remote, 0, 8);
            guess.request().rkey ^= 0x1000 + i * 0x100;
            assertThat(guess.run()).isEqualTo(Progress.BY_PACKETS);
            host.settle();
        }
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void keysOfWhatWasClosedAreNoGuesses() {
        List<Region> closed = new ArrayList<>();
        for (int i = 0; i < 2 * GrantsGiven.REFUSALS_MAX; i++) {
            Region region = b.region(100);
            assertThat(b.memory.remove(region)).isTrue();
            closed.add(region);
        }
        for (Region region : closed) {
            assertThat(writeAfterAsking(region)).isEqualTo(Progress.BY_PACKETS);
        }
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
    }

    @Test
    void twoQueuePairsHaveGrantsOfTheirOwn() {
        SharedHost.End second = a.queuePair();
        SharedHost.End there = b.queuePair();
        second.connect(there);
        there.connect(second);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        assertThat(second.run(SendOperation.WRITE, local, remote, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(second.run(SendOperation.WRITE, local, remote, 0, 8)).isEqualTo(Progress.DONE);
        assertThat(a.mapped).as("one file").isEqualTo(1);
        qb.modify(QpState.ERR);
        assertThat(write(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(second.run(SendOperation.WRITE, local, remote, 0, 8)).isEqualTo(Progress.DONE);
    }

    @Test
    void bothDirectionsAreGranted() {
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        assertThat(qb.run(SendOperation.READ, remote, local, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(qb.run(SendOperation.READ, remote, local, 0, 8)).isEqualTo(Progress.DONE);
    }

    // ---- what it allows

    @Test
    void whatLiesOutsideGoesByPackets() {
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        assertThat(qa.run(SendOperation.WRITE, local, remote, 4000, 96)).isEqualTo(Progress.DONE);
        assertThat(qa.run(SendOperation.WRITE, local, remote, 4000, 97)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.WRITE, local, remote, 4096, 1)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.WRITE, local, remote, -1, 1)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.READ, local, remote, Long.MIN_VALUE, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.READ, local, remote, -8, 4096)).isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void rightsOfTheRegionAreKept() {
        Region readable = b.register(b.allocate(100, false), READ);
        assertThat(qa.run(SendOperation.READ, local, readable, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(qa.run(SendOperation.READ, local, readable, 0, 8)).isEqualTo(Progress.DONE);
        assertThat(qa.run(SendOperation.WRITE, local, readable, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.FETCH_ADD, local, readable, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.ATOMIC_WRITE, local, readable, 0, 8)).isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void rightsOfTheQueuePairAreKept() {
        qb.parameters.access = READ;
        qb.held.onModified();
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.READ, local, remote, 0, 8)).isEqualTo(Progress.DONE);
    }

    /// IBTA 9.7.5.1.3: such a request is refused, which only the responder can do.
    @Test
    void aQueuePairThatServesNoReadsGivesNone() {
        qb.parameters.readsServedMax = 0;
        qb.held.onModified();
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.READ, local, remote, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(a.heard).containsExactly(Kind.DECLINED);
    }

    @Test
    void aFileThatPeersMayNotWriteToIsRead() {
        Region region = b.register(b.allocate(100, false), SharedHost.ALL);
        assertThat(writeAfterAsking(region)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.READ, local, region, 0, 8)).isEqualTo(Progress.DONE);
    }

    @Test
    void aWindowGrantsWhatItIsBoundTo() {
        var window = new Window(SharedHost.DOMAIN, 2);
        assertThat(b.memory.add(window)).isTrue();
        assertThat(b.memory.bind(
                        window, 9, remote, remote.iova() + 1000, 200, READ, SharedHost.DOMAIN, qb.parameters.qpn))
                .isEqualTo(MemoryVerdict.OK);
        assertThat(readWindow(window, 1000)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(readWindow(window, 1000)).isEqualTo(Progress.DONE);
        assertThat(readWindow(window, 1192)).isEqualTo(Progress.DONE);
        assertThat(readWindow(window, 1193)).isEqualTo(Progress.BY_PACKETS);
        assertThat(readWindow(window, 992)).isEqualTo(Progress.BY_PACKETS);
        assertThat(b.memory.invalidate(window.key(), SharedHost.DOMAIN, qb.parameters.qpn))
                .isEqualTo(MemoryVerdict.OK);
        assertThat(readWindow(window, 1000)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(readWindow(window, 1000)).isEqualTo(Progress.BY_PACKETS);
    }

    private Progress readWindow(Window window, long offset) {
        SharedHost.Request read = qa.request(SendOperation.READ, local, remote, offset, 8);
        read.request().rkey = window.key();
        return read.run();
    }

    // ---- what withdraws it

    @Test
    void aRegionThatIsClosedIsReachedNoMoreAndUnmapped() {
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        remote.memory().fill((byte) 0);
        assertThat(b.memory.remove(remote)).isTrue();
        local.memory().fill((byte) 1);
        assertThat(write(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(remote.memory().mismatch(MemorySegment.ofArray(new byte[4096])))
                .isEqualTo(-1);
        host.settle();
        assertThat(a.mapped).isZero();
        assertThat(b.access.givenNow()).isZero();
    }

    @Test
    void anIdlePeerUnmapsWhatIsClosed() {
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        assertThat(a.mapped).isEqualTo(1);
        assertThat(b.memory.remove(remote)).isTrue();
        host.settle();
        assertThat(a.mapped).isZero();
        assertThat(b.heard).containsExactly(Kind.ASKED, Kind.DROPPED);
    }

    @Test
    void afterTheFileWasDroppedItsDescriptorComesAgain() {
        Region other = b.register(remote.memory(), SharedHost.ALL);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        assertThat(b.memory.remove(remote)).isTrue();
        host.settle();
        assertThat(writeAfterAsking(other)).isEqualTo(Progress.DONE);
        assertThat(a.mapped).isEqualTo(1);
    }

    @Test
    void aRegionThatIsRegisteredAnewIsAskedForAnew() {
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        b.memory.reregister(remote, SharedHost.DOMAIN, READ);
        assertThat(write(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(qa.run(SendOperation.READ, local, remote, 0, 8)).isEqualTo(Progress.DONE);
    }

    @Test
    void everyChangeOfTheOwnersQueuePairWithdraws() {
        for (QpState state : List.of(QpState.RTS, QpState.SQD, QpState.RTS, QpState.ERR)) {
            assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
            qb.modify(state);
            assertThat(write(remote)).as("after " + state).isEqualTo(Progress.BY_PACKETS);
            assertThat(b.access.givenNow()).isZero();
            host.settle();
            host.pass(GrantsHeld.AGAIN_NANOS);
        }
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void theAskersEndReturnsAll() {
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        Region second = b.region(100);
        assertThat(qa.run(SendOperation.READ, local, second, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(b.access.givenNow()).isEqualTo(2);
        qa.modify(QpState.ERR);
        host.settle();
        assertThat(b.access.givenNow()).isZero();
        assertThat(a.mapped).isZero();
    }

    @Test
    void aGrantThatComesTooLateIsReturned() {
        assertThat(write(remote)).isEqualTo(Progress.BY_PACKETS);
        qa.modify(QpState.ERR);
        host.settle();
        assertThat(b.heard).containsExactly(Kind.ASKED, Kind.RETURNED, Kind.DROPPED);
        assertThat(b.access.givenNow()).isZero();
        assertThat(host.open()).isZero();
        qa.connect(qb);
        assertThat(writeAfterAsking(remote)).as("the descriptor comes again").isEqualTo(Progress.DONE);
    }

    @Test
    void aNeighbourThatIsGoneHasAndGivesNothing() {
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        a.lose(b);
        assertThat(a.mapped).isZero();
        assertThat(write(remote)).isEqualTo(Progress.BY_PACKETS);
        b.lose(a);
        assertThat(b.access.givenNow()).isZero();
        assertThat(b.memory.remove(remote)).isTrue();
        host.meet(a, b);
        Region next = b.region(100);
        assertThat(qa.run(SendOperation.READ, local, next, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(qa.run(SendOperation.READ, local, next, 0, 8)).isEqualTo(Progress.DONE);
    }

    @Test
    void whatCannotBeToldOrSharedIsTriedAgainLater() {
        b.hasRoom = false;
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(b.access.givenNow()).isZero();
        b.hasRoom = true;
        b.files.getFirst().isShareable = false;
        host.pass(GrantsHeld.AGAIN_NANOS);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
        b.files.getFirst().isShareable = true;
        a.refusesFiles = true;
        host.pass(GrantsHeld.AGAIN_NANOS);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
        assertThat(b.access.givenNow()).isZero();
        a.refusesFiles = false;
        host.pass(GrantsHeld.USELESS_NANOS - 1);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.BY_PACKETS);
        host.pass(1);
        assertThat(writeAfterAsking(remote)).isEqualTo(Progress.DONE);
        assertThat(host.open()).isZero();
    }

    // ---- limits

    @Test
    void moreKeysThanAQueuePairKeepsGoByPacketsOrTakeTurns() {
        MemorySegment shared = b.allocate(100, true);
        List<Region> regions = new ArrayList<>();
        for (int i = 0; i < 3 * GrantsHeld.GRANTS_MAX; i++) {
            regions.add(b.register(shared, SharedHost.ALL));
        }
        for (int round = 0; round < 8; round++) {
            regions.forEach(region -> qa.run(SendOperation.READ, local, region, 0, 8));
            host.settle();
            host.pass(GrantsHeld.AGAIN_NANOS);
        }
        assertThat(b.access.givenNow()).isBetween(GrantsHeld.GRANTS_MAX / 2, GrantsHeld.GRANTS_MAX);
        assertThat(count(b, Kind.RETURNED)).isPositive();
        assertThat(a.mapped).isEqualTo(1);
        int key = b.heard.size();
        for (int i = 0; i < 20; i++) {
            regions.forEach(region -> qa.run(SendOperation.READ, local, region, 0, 8));
        }
        host.settle();
        assertThat(b.heard.size() - key)
                .as("questions and returns without time passing")
                .isLessThanOrEqualTo(2 * GrantsHeld.GRANTS_MAX);
    }

    @Test
    void aQueuePairThatUsesManyKeysKeepsMoreOfThem() {
        MemorySegment shared = b.allocate(100, true);
        List<Region> regions = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            regions.add(b.register(shared, SharedHost.ALL));
        }
        for (int round = 0; round < 10; round++) {
            regions.forEach(region -> qa.run(SendOperation.READ, local, region, 0, 8));
            host.settle();
            host.pass(GrantsHeld.AGAIN_NANOS);
        }
        assertThat(regions)
                .filteredOn(region -> qa.run(SendOperation.READ, local, region, 0, 8) == Progress.DONE)
                .hasSizeGreaterThan(450);
    }

    @Test
    void aNeighbourHasFourThousandGrantsAtMost() {
        List<Region> regions = new ArrayList<>();
        MemorySegment shared = b.allocate(100, true);
        for (int i = 0; i < 900; i++) {
            regions.add(b.register(shared, SharedHost.ALL));
        }
        for (int i = 0; i < 5; i++) {
            SharedHost.End here = a.queuePair();
            SharedHost.End there = b.queuePair();
            here.connect(there);
            there.connect(here);
            for (Region region : regions) {
                GrantMessage asked = GrantMessage.asked(
                        here.parameters.qpn, there.parameters.qpn, region.key(), here.parameters.pathMtu);
                MemorySegment message = host.arena.allocate(GrantMessage.BYTES);
                asked.write(message);
                assertThat(a.tell(b.slot, message, -1)).isTrue();
            }
            b.receive();
            a.forgetArriving();
        }
        assertThat(b.access.givenNow()).isEqualTo(GrantsGiven.GRANTS_MAX);
        regions.forEach(region -> assertThat(b.memory.remove(region)).isTrue());
        assertThat(b.access.givenNow()).isZero();
    }

    /// The responder would refuse their packets.
    @Test
    void endsWithDifferentPathMtusHaveNoGrants() {
        SharedHost.End here = a.queuePair();
        SharedHost.End there = b.queuePair();
        here.parameters.pathMtu = 2 * there.parameters.pathMtu;
        here.connect(there);
        there.connect(here);
        Region region = b.register(b.allocate(100, true), SharedHost.ALL);
        assertThat(here.run(SendOperation.WRITE, local, region, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(here.run(SendOperation.WRITE, local, region, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(b.access.givenNow()).isZero();
    }
}
