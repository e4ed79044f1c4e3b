package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.foreign.linux.ProcessMark;
import verbena.nic.shm.GrantMessage.Kind;
import verbena.transport.memory.Region;
import verbena.transport.near.PeerMemory.Progress;
import verbena.verbs.spi.SendOperation;

/// A neighbour that says and writes whatever it likes: nothing is thrown, nothing outside what it may have is
/// touched, and no descriptor stays open.
class HostileGrantsTest {
    private final SharedHost host = new SharedHost();
    private final SharedHost.OneProcess a = host.new OneProcess(1);
    private final SharedHost.OneProcess evil = host.new OneProcess(2);
    private final SharedHost.End qa = a.queuePair();
    private final SharedHost.End qe = evil.queuePair();
    private final Region local = a.region(4096);
    private final Region remote = evil.region(4096);

    @BeforeEach
    void meet() {
        host.meet(a, evil);
        qa.connect(qe);
        qe.connect(qa);
    }

    @AfterEach
    void close() {
        host.settle();
        assertThat(host.open()).as("descriptors left open").isZero();
        host.close();
    }

    private void say(GrantMessage what, int descriptor) {
        MemorySegment message = host.arena.allocate(GrantMessage.BYTES);
        what.write(message);
        a.access.onTold(evil.slot, message, descriptor);
    }

    private Progress write() {
        return qa.run(SendOperation.WRITE, local, remote, 0, 8);
    }

    /// An honest answer to the question for `remote`, for tests to change.
    private GrantMessage honest() {
        return new GrantMessage(
                Kind.GIVEN,
                qa.parameters.qpn,
                qe.parameters.qpn,
                remote.key(),
                1,
                77,
                remote.iova(),
                4096,
                SharedHost.ALL,
                evil.files.getFirst().number,
                4096,
                true,
                0,
                0);
    }

    private int descriptor() {
        return host.open(evil.files.getFirst());
    }

    private void refuses(GrantMessage given) {
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        say(given, descriptor());
        GrantPage.give(evil.ownPage(a.slot), 1, 77);
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        assertThat(a.mapped).as("nothing is mapped in vain").isZero();
    }

    private static GrantMessage of(
            GrantMessage m, int index, long value, long length, long fileBytes, boolean isWritable, long offset) {
        return new GrantMessage(
                m.kind(),
                m.asker(),
                m.owner(),
                m.rkey(),
                index,
                value,
                m.address(),
                length,
                m.rights(),
                m.file(),
                fileBytes,
                isWritable,
                offset,
                m.mark());
    }

    @Test
    void theHonestAnswerIsTaken() {
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        say(honest(), descriptor());
        GrantPage.give(evil.ownPage(a.slot), 1, 77);
        assertThat(write()).isEqualTo(Progress.DONE);
    }

    @Test
    void anIndexOutsideThePageIsRefused() {
        GrantMessage m = honest();
        for (int index : new int[] {0, -1, GrantPage.WORDS, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            refuses(of(m, index, 77, 4096, 4096, true, 0));
            host.pass(GrantsHeld.USELESS_NANOS);
        }
    }

    @Test
    void theValueZeroIsRefused() {
        refuses(of(honest(), 1, 0, 4096, 4096, true, 0));
    }

    @Test
    void whatDoesNotLieInTheFileIsRefused() {
        GrantMessage m = honest();
        for (long[] lengthAndOffset : new long[][] {
            {4096, 1},
            {4097, 0},
            {0, 0},
            {-1, 0},
            {1, -1},
            {1, 4096},
            {Long.MAX_VALUE, Long.MAX_VALUE},
            {Long.MAX_VALUE, 2},
            {Long.MIN_VALUE, 0},
            {1, Long.MIN_VALUE},
        }) {
            refuses(of(m, 1, 77, lengthAndOffset[0], 4096, true, lengthAndOffset[1]));
            host.pass(GrantsHeld.USELESS_NANOS);
        }
    }

    @Test
    void liesAboutTheFileAreRefused() {
        GrantMessage m = honest();
        for (long size : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, MappedFiles.BYTES_MAX + 1, 8192}) {
            refuses(of(m, 1, 77, 4096, size, true, 0));
            host.pass(GrantsHeld.USELESS_NANOS);
        }
        refuses(of(m, 1, 77, 4096, 4096, false, 0)); // rights to write where it says that it is for reading
    }

    @Test
    void aFileThatNeverCameIsRefused() {
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        say(honest(), -1);
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        evil.receive();
        assertThat(evil.heard).contains(Kind.RETURNED, Kind.DROPPED);
    }

    @Test
    void whatWasNotAskedForIsSentBack() {
        say(honest(), descriptor());
        assertThat(a.mapped).isZero();
        evil.receive();
        assertThat(evil.heard).containsExactly(Kind.RETURNED, Kind.DROPPED);
    }

    @Test
    void theSecondAnswerToOneQuestionIsSentBack() {
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        say(honest(), descriptor());
        say(of(honest(), 2, 78, 4096, 4096, true, 0), descriptor());
        assertThat(a.mapped).isEqualTo(1);
        GrantPage.give(evil.ownPage(a.slot), 1, 77);
        assertThat(write()).isEqualTo(Progress.DONE);
    }

    @Test
    void anotherNeighbourAnswersNothing() {
        SharedHost.OneProcess third = host.new OneProcess(3);
        host.meet(a, third);
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        MemorySegment message = host.arena.allocate(GrantMessage.BYTES);
        honest().write(message);
        a.access.onTold(third.slot, message, descriptor());
        assertThat(a.mapped).isZero();
        a.access.onTold(third.slot, message, -1);
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void aRangeThatWrapsAroundAllowsNothing() {
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        GrantMessage m = honest();
        say(
                new GrantMessage(
                        m.kind(),
                        m.asker(),
                        m.owner(),
                        m.rkey(),
                        1,
                        77,
                        -8,
                        4096,
                        m.rights(),
                        m.file(),
                        4096,
                        true,
                        0,
                        0),
                descriptor());
        GrantPage.give(evil.ownPage(a.slot), 1, 77);
        assertThat(write()).isEqualTo(Progress.BY_PACKETS);
        SharedHost.Request request = qa.request(SendOperation.WRITE, local, remote, 0, 8);
        request.request().remoteAddress = 0;
        assertThat(request.run()).as("behind the wrap").isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void returnsOfWhatItDoesNotHaveChangeNothing() {
        Region region = a.region(100);
        assertThat(qe.run(SendOperation.READ, remote, region, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(a.access.givenNow()).isEqualTo(1);
        for (int index : new int[] {-1, 0, 1, 2, GrantsGiven.GRANTS_MAX, GrantsGiven.GRANTS_MAX + 1, 1 << 30}) {
            say(GrantMessage.of(Kind.RETURNED, 0, 0, 0, index, 12345), -1);
        }
        assertThat(a.access.givenNow()).isEqualTo(1);
        assertThat(qe.run(SendOperation.READ, remote, region, 0, 8)).isEqualTo(Progress.DONE);
    }

    /// An answer for memory of its process: at this address, and with this mark.
    private GrantMessage ofProcess(long address, long mark) {
        GrantMessage m = honest();
        return new GrantMessage(
                m.kind(),
                m.asker(),
                m.owner(),
                m.rkey(),
                1,
                77,
                m.address(),
                4096,
                m.rights(),
                GrantMessage.NO_FILE,
                -1,
                true,
                address,
                mark);
    }

    /// The tests run in one process, which stands for another one that has the number of the neighbour now.
    @Test
    void noProcessWithoutTheMarkIsTouched() {
        MemorySegment victim = host.arena.allocate(4096, 8).fill((byte) 9);
        for (long mark : new long[] {0, 16, -8, Long.MIN_VALUE, ProcessMark.address() + (1 << 24)}) {
            assertThat(write()).isEqualTo(Progress.BY_PACKETS);
            say(ofProcess(victim.address(), mark), -1);
            GrantPage.give(evil.ownPage(a.slot), 1, 77);
            assertThat(write()).isEqualTo(Progress.BY_PACKETS);
            host.pass(GrantsHeld.USELESS_NANOS);
            a.lose(evil);
            host.meet(a, evil);
        }
        assertThat(victim.mismatch(host.arena.allocate(4096).fill((byte) 9))).isEqualTo(-1);
    }

    @Test
    void memoryThatItsProcessDoesNotHaveGoesByPackets() {
        for (long address : new long[] {0, 16, -8, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThat(write()).isEqualTo(Progress.BY_PACKETS);
            say(ofProcess(address, ProcessMark.address()), -1);
            GrantPage.give(evil.ownPage(a.slot), 1, 77);
            assertThat(write()).isEqualTo(Progress.BY_PACKETS);
            a.lose(evil);
            host.meet(a, evil);
        }
        assertThat(a.mapped).isZero();
    }

    /// Messages at random, of which many name what exists, while both pages are written at random too.
    @Test
    void noiseDoesNoHarm() {
        var random = new Random(5);
        Region secret = a.register(a.allocate(4096, true), 0);
        secret.memory().fill((byte) 9);
        MemorySegment message = host.arena.allocate(GrantMessage.BYTES);
        MemorySegment page = evil.ownPage(a.slot);
        int[] numbers = {0, 1, 2, qa.parameters.qpn, qe.parameters.qpn, local.key(), remote.key(), secret.key(), -1};
        for (int i = 0; i < 5_000; i++) {
            for (int at = 0; at < GrantMessage.BYTES; at += Integer.BYTES) {
                int number = random.nextInt(4) == 0 ? random.nextInt() : numbers[random.nextInt(numbers.length)];
                message.set(ValueLayout.JAVA_INT_UNALIGNED, at, number);
            }
            message.set(ValueLayout.JAVA_INT_UNALIGNED, 0, random.nextInt(-1, 8));
            page.setAtIndex(ValueLayout.JAVA_LONG, random.nextInt(1, 64), random.nextInt(3));
            int descriptor = random.nextInt(4) == 0 ? descriptor() : -1;
            a.access.onTold(
                    evil.slot,
                    message.asSlice(0, random.nextInt(10) == 0 ? i % GrantMessage.BYTES : GrantMessage.BYTES),
                    descriptor);
            Progress progress = write();
            assertThat(progress).isIn(Progress.DONE, Progress.BY_PACKETS);
            host.pass(GrantsHeld.AGAIN_NANOS);
            evil.forgetArriving();
        }
        assertThat(secret.memory().mismatch(host.arena.allocate(4096).fill((byte) 9)))
                .isEqualTo(-1);
        a.access.onTold(-1, message, -1);
        a.access.onTold(1 << 20, message, -1);
        a.access.onGone(-1);
        a.access.onGone(256);
        a.lose(evil);
        assertThat(a.mapped).isZero();
        assertThat(a.access.givenNow()).isZero();
    }
}
