package verbena.checked.corpus;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.check.Grade;
import verbena.verbs.Access;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;

/// Programs that look wrong and are right: nothing but costs is told of them.
@Timeout(60)
class SoundProgramsTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int MESSAGES = 20;

    private final TwoEnds scene = new TwoEnds(Set.of());
    private final CompletionQueue mine = scene.device.createCompletionQueue(64);
    private final QueuePair one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
    private final QueuePair other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived));

    @BeforeEach
    void connect() {
        scene.connect();
        connectOthers();
    }

    private void connectOthers() {
        one.connect(other.endpoint());
        other.connect(one.endpoint());
    }

    @AfterEach
    void nothingWasTold() {
        one.close();
        other.close();
        mine.close();
        scene.close();
        assertThat(scene.checker.findings().all())
                .filteredOn(each -> each.rule().grade() != Grade.COST)
                .isEmpty();
    }

    /// The worker polls what the other thread has armed and handed to it.
    @Test
    void aThreadTakesEventsAndAnotherPolls() throws Exception {
        try (CompletionChannel channel = scene.device.createCompletionChannel();
                var queue = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(64).withChannel(channel));
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(queue))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            BlockingQueue<CompletionQueue> ready = new LinkedBlockingQueue<>();
            queue.arm();
            queue.poll(scene.wc);
            Thread worker = Thread.ofPlatform().start(() -> take(ready));
            Thread.ofPlatform().daemon().start(() -> handOn(channel, ready));
            for (int i = 0; i < MESSAGES; i++) {
                receiver.postReceive(i, scene.remote.slice(64L * i, 64));
                sender.postSend(i, scene.local.slice(64L * i, 64));
            }
            worker.join();
        }
    }

    private static void handOn(CompletionChannel channel, BlockingQueue<CompletionQueue> ready) {
        try {
            while (true) {
                CompletionQueue queue = channel.await();
                queue.arm();
                ready.add(queue);
            }
        } catch (InterruptedException | InvalidStateException e) {
            Thread.currentThread().interrupt(); // the channel was closed
        }
    }

    private static void take(BlockingQueue<CompletionQueue> ready) {
        var wc = new WorkCompletion();
        int taken = 0;
        try {
            while (taken < 2 * MESSAGES) {
                CompletionQueue queue = ready.take();
                while (queue.poll(wc)) {
                    taken++;
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /// Old events are drained first, so that a wait is for what the queues were armed for.
    @Test
    void aThreadPollsAndThenSleepsForTwoQueues() throws Exception {
        try (CompletionChannel channel = scene.device.createCompletionChannel();
                var queue = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(64).withChannel(channel));
                var second = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(64).withChannel(channel));
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(second))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            for (int i = 0; i < MESSAGES; i++) {
                receiver.postReceive(i, scene.remote.slice(64L * i, 64));
                sender.postSend(i, scene.local.slice(64L * i, 64));
                int taken = 0;
                while (taken < 2) {
                    while (channel.poll().isPresent()) {
                        assertThat(taken).isLessThan(2);
                    }
                    queue.arm();
                    second.arm();
                    if (queue.poll(scene.wc) || second.poll(scene.wc)) {
                        taken++;
                    } else {
                        assertThat(channel.await(LIMIT)).isPresent();
                    }
                }
            }
        }
    }

    /// A record is read in parts, with a look at its version before and after them.
    @Test
    void aReaderLooksAtTheVersionOnBothSides() throws Exception {
        MemorySegment memory = scene.remote.segment();
        for (int i = 0; i < MESSAGES; i++) {
            scene.here.postWrite(
                    1, scene.local.slice(0, 8), scene.remote.remote().slice(0, 8));
            read(0, 8, 256);
            one.postRead(2, scene.remote.remote().slice(64, 64), scene.local.slice(512, 64));
            scene.here.postWrite(
                    3, scene.local.slice(64, 128), scene.remote.remote().slice(64, 128));
            scene.take(mine);
            read(128, 64, 576);
            read(0, 8, 264);
            for (int j = 0; j < 2; j++) {
                scene.take(scene.sent);
            }
            one.postRead(4, scene.remote.remote().slice(0, 8), scene.local.slice(256, 8));
            memory.set(JAVA_LONG, 0, 2L * i + 1);
            one.postRead(5, scene.remote.remote().slice(64, 128), scene.local.slice(512, 128));
            memory.asSlice(64, 128).fill((byte) i);
            one.postRead(6, scene.remote.remote().slice(0, 8), scene.local.slice(264, 8));
            for (int j = 0; j < 3; j++) {
                scene.take(mine);
            }
        }
    }

    private void read(long from, int bytes, long into) throws InterruptedException {
        one.postRead(7, scene.remote.remote().slice(from, bytes), scene.local.slice(into, bytes));
        scene.take(mine);
    }

    /// The CMP_SWAP of the version finds out whether the record has changed.
    @Test
    void aTransactionEndsWithACompareSwap() throws Exception {
        for (int i = 0; i < MESSAGES; i++) {
            read(0, 8, 256);
            one.postRead(1, scene.remote.remote().slice(64, 64), scene.local.slice(512, 64));
            scene.here.postWrite(
                    2, scene.local.slice(64, 64), scene.remote.remote().slice(64, 64));
            scene.take(mine);
            one.postCompareSwap(3, scene.remote.remote(), 7, 8, scene.local.slice(264, 8));
            scene.take(mine);
            scene.take(scene.sent);
        }
    }

    @Test
    void aConnectionFailsAndIsMadeAgain() throws Exception {
        for (int round = 0; round < 3; round++) {
            other.postReceive(1, scene.remote.slice(0, 64));
            other.postReceive(2, scene.remote.slice(64, 64));
            one.postSend(3, scene.local.slice(0, 64));
            scene.take(mine);
            scene.take(scene.arrived);
            one.postWrite(4, scene.local.slice(0, 64), new RemoteMemory(scene.remote.address(), 0, 64));
            scene.take(mine);
            assertThat(scene.wc.ok()).isFalse();
            other.modify(new Transition.ToError());
            scene.take(scene.arrived); // the receive that was left
            one.modify(new Transition.ToReset());
            other.modify(new Transition.ToReset());
            connectOthers();
        }
    }

    /// Every other time the peer takes the key back by its message.
    @Test
    void aWindowIsBoundAgainAndAgain() throws Exception {
        try (var region = scene.domain.allocate(4_096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
                var window = scene.domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            for (int i = 0; i < MESSAGES; i++) {
                int key = window.nextRkey();
                long at = region.address() + 64L * i;
                try (var batch = scene.there.sendBatch()) {
                    batch.bindWindow(1, window, key, region, at, 256, EnumSet.of(Access.REMOTE_WRITE))
                            .signaled();
                    batch.submit();
                }
                scene.take(scene.arrived);
                scene.there.postReceive(2, scene.remote.slice(64, 64));
                scene.here.postWrite(3, scene.local.slice(0, 128), new RemoteMemory(at, key, 128));
                try (var batch = scene.here.sendBatch()) {
                    if (i % 2 == 0) {
                        batch.sendWithInvalidate(4, key);
                    } else {
                        batch.send(4);
                    }
                    batch.sge(scene.local, 256, 64).signaled().submit();
                }
                scene.take(scene.arrived);
                region.noteLoad(64L * i, 128);
                scene.take(scene.sent);
                scene.take(scene.sent);
                if (i % 2 != 0) {
                    try (var batch = scene.there.sendBatch()) {
                        batch.localInvalidate(5, key).signaled().submit();
                    }
                    scene.take(scene.arrived);
                }
            }
        }
    }
}
