package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import verbena.verbs.AsyncEvent;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Completion queues and channels, in virtual time.
class CompletionQueueTest {
    private final Pair pair = Pair.connected();
    private final Pair.End a = pair.a;
    private final Pair.End b = pair.b;
    private final WorkCompletion wc = new WorkCompletion();

    @AfterEach
    void close() {
        pair.close();
    }

    private void write(QueuePair qp, long wrId) {
        qp.postWrite(wrId, a.memory.slice(0, 8), b.memory.remote());
    }

    /// A second connection between the two, whose sends complete in `cq`.
    private QueuePair connection(CompletionQueue cq) {
        QueuePair here = a.domain.createQueuePair(QueuePairOptions.rc(cq));
        QueuePair there = b.domain.createQueuePair(QueuePairOptions.rc(b.cq));
        here.connect(there.endpoint());
        there.connect(here.endpoint());
        return here;
    }

    // ---- polling

    @Test
    void anEmptyQueueLeavesTheCompletionAlone() {
        write(a.qp, 1);
        pair.settle();
        assertThat(a.cq.poll(wc)).isTrue();
        assertThat(a.cq.poll(wc)).isFalse();
        assertThat(wc.wrId()).isEqualTo(1);
    }

    @Test
    void severalCompletionsComeInOneCall() {
        for (int i = 0; i < 5; i++) {
            write(a.qp, i);
        }
        pair.settle();
        var some = new WorkCompletion[] {new WorkCompletion(), new WorkCompletion(), new WorkCompletion()};
        assertThat(a.cq.poll(some)).isEqualTo(3);
        assertThat(a.cq.poll(some)).isEqualTo(2);
        assertThat(some[1].wrId()).isEqualTo(4);
        assertThat(a.cq.poll(some)).isZero();
    }

    @Test
    void aClosedQueueCannotBeUsed() {
        CompletionQueue cq = a.context.createCompletionQueue(1);
        cq.close();
        cq.close();
        assertThatThrownBy(() -> cq.poll(wc))
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("%s is closed", cq);
        assertThatThrownBy(() -> cq.await(wc, Duration.ZERO)).isInstanceOf(InvalidStateException.class);
        assertThatThrownBy(() -> cq.arm()).isInstanceOf(InvalidStateException.class);
        assertThatThrownBy(() -> cq.resize(2)).isInstanceOf(InvalidStateException.class);
    }

    @Test
    void sizesHaveTheirLimits() {
        assertThatThrownBy(() -> a.context.createCompletionQueue(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("createCompletionQueue: entries: at least 1, got 0");
        assertThatThrownBy(() -> a.context.createCompletionQueue((1 << 20) + 1))
                .isInstanceOf(ResourceLimitException.class)
                .hasMessage("createCompletionQueue: maxCqe is 1048576; asked for 1048577");
    }

    // ---- waiting, without a thread

    @Test
    void waitingDrivesADeviceThatHasNoThread() throws InterruptedException {
        b.qp.postReceive(7, b.memory.slice(0, 64));
        a.qp.postSend(1, a.memory.slice(0, 8));
        a.context.drive();
        assertThat(b.cq.await(wc, Duration.ofSeconds(1))).isTrue();
        assertThat(wc.wrId()).isEqualTo(7);
    }

    @Test
    void waitingInVainTakesTheTimeOfTheDevicesClock() throws InterruptedException {
        long before = pair.clock.nanos;
        assertThat(a.cq.await(wc, Duration.ofMillis(5))).isFalse();
        assertThat(pair.clock.nanos - before).isEqualTo(5_000_000);
    }

    @Test
    void aRequestWithoutAnAnswerEndsWhileItIsWaitedFor() throws InterruptedException {
        a.wire.loses = _ -> true;
        write(a.qp, 1);
        assertThat(a.cq.await(wc, Duration.ofSeconds(60))).isTrue();
        assertThat(wc.status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
    }

    @Test
    void anInterruptEndsTheWait() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> a.cq.await(wc, Duration.ofSeconds(1))).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> a.context.awaitAsyncEvent(Duration.ofSeconds(1)))
                .isInstanceOf(InterruptedException.class);
    }

    @Test
    void aWaitWithoutALimitEndsWithTheCompletionOrAnInterrupt() throws InterruptedException {
        write(a.qp, 1);
        a.cq.await(wc);
        assertThat(wc.wrId()).isEqualTo(1);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> a.cq.await(wc)).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(a.context::awaitAsyncEvent).isInstanceOf(InterruptedException.class);
        try (CompletionChannel channel = a.context.createCompletionChannel()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(channel::await).isInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void foreverIsADuration() throws InterruptedException {
        write(a.qp, 1);
        pair.settle();
        assertThat(a.cq.await(wc, Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
        assertThat(a.cq.await(wc, Duration.ofSeconds(-1))).isFalse();
    }

    // ---- resizing

    @Test
    void completionsSurviveAResize() {
        for (int i = 0; i < 100; i++) {
            write(a.qp, i);
        }
        pair.settle();
        assertThatThrownBy(() -> a.cq.resize(99))
                .isInstanceOf(ResourceLimitException.class)
                .hasMessage("resize: entries is 99; 100 completions are in the queue");
        a.cq.resize(100);
        assertThat(a.cq.capacity()).isEqualTo(100);
        for (int i = 0; i < 50; i++) {
            assertThat(a.cq.poll(wc)).isTrue();
            assertThat(wc.wrId()).isEqualTo(i);
        }
        a.cq.resize(5_000);
        for (int i = 100; i < 200; i++) {
            write(a.qp, i);
            pair.settle();
        }
        for (int i = 50; i < 200; i++) {
            assertThat(a.cq.poll(wc)).isTrue();
            assertThat(wc.wrId()).isEqualTo(i);
        }
    }

    // ---- overflow

    @Test
    void anOverflowBreaksTheQueueAndItsQueuePairs() {
        CompletionQueue small = a.context.createCompletionQueue(2);
        QueuePair qp = connection(small);
        a.events();
        for (int i = 0; i < 5; i++) {
            write(qp, i);
        }
        pair.settle();
        assertThat(a.events()).containsExactly(AsyncEvent.Type.CQ_ERR, AsyncEvent.Type.QP_FATAL);
        assertThat(qp.state()).isEqualTo(QpState.ERR);
        assertThat(a.qp.state()).as("one with another queue").isEqualTo(QpState.RTS);
        assertThat(small.poll(wc)).isTrue();
        assertThat(small.poll(new WorkCompletion[] {wc, wc, wc})).isEqualTo(1);
        for (Executable polls :
                List.<Executable>of(() -> small.poll(wc), () -> small.poll(new WorkCompletion[] {wc}))) {
            assertThatThrownBy(polls::execute)
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessageContaining("poll: completion queue")
                    .hasMessageContaining("is broken: more completions came than its 2 entries");
        }
        assertThatThrownBy(() -> small.await(wc, Duration.ofSeconds(1)))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageContaining("is broken: more completions came than its 2 entries");
        assertThat(a.context.counters().get("completion.overflows")).isPositive();
    }

    @Test
    void aQueuePairThatCannotTellOfACompletionDoesNotGoOn() {
        CompletionQueue small = a.context.createCompletionQueue(1);
        QueuePair first = connection(small);
        write(first, 1);
        write(first, 2);
        pair.settle();
        a.events();
        QueuePair late = connection(small);
        write(late, 3);
        pair.settle();
        assertThat(a.events()).as("the queue has reported it already").containsExactly(AsyncEvent.Type.QP_FATAL);
        assertThat(late.state()).isEqualTo(QpState.ERR);
    }

    // ---- notifications

    @Test
    void anArmedQueueNotifiesOnce() {
        CompletionChannel channel = a.context.createCompletionChannel();
        CompletionQueue cq =
                a.context.createCompletionQueue(CompletionQueueOptions.of(64).withChannel(channel));
        QueuePair qp = connection(cq);
        write(qp, 1);
        pair.settle();
        assertThat(channel.poll()).as("not armed").isEmpty();
        cq.arm();
        assertThat(channel.poll()).as("earlier completions do not count").isEmpty();
        write(qp, 2);
        write(qp, 3);
        pair.settle();
        assertThat(channel.poll()).contains(cq);
        assertThat(channel.poll()).isEmpty();
        write(qp, 4);
        pair.settle();
        assertThat(channel.poll()).as("armed for one").isEmpty();
    }

    @Test
    void aNotificationThatWaitsStandsForAllBeforeIt() {
        CompletionChannel channel = a.context.createCompletionChannel();
        CompletionQueue cq =
                a.context.createCompletionQueue(CompletionQueueOptions.of(64).withChannel(channel));
        QueuePair qp = connection(cq);
        for (int i = 0; i < 3; i++) {
            cq.arm();
            write(qp, i);
            pair.settle();
        }
        assertThat(channel.poll()).contains(cq);
        assertThat(channel.poll()).isEmpty();
        cq.arm();
        write(qp, 3);
        pair.settle();
        assertThat(channel.poll()).contains(cq);
    }

    @Test
    void solicitedOnlyWaitsForASolicitedMessageOrAnError() {
        CompletionChannel channel = b.context.createCompletionChannel();
        CompletionQueue cq =
                b.context.createCompletionQueue(CompletionQueueOptions.of(64).withChannel(channel));
        QueuePair there = b.domain.createQueuePair(QueuePairOptions.rc(b.cq).withReceiveCq(cq));
        QueuePair here = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
        here.connect(there.endpoint());
        there.connect(here.endpoint());
        for (int i = 0; i < 4; i++) {
            there.postReceive(i, b.memory.slice(0, 64));
        }
        cq.armSolicited();
        here.postSend(1, a.memory.slice(0, 8));
        pair.settle();
        assertThat(channel.poll()).isEmpty();
        try (SendBatch batch = here.sendBatch()) {
            batch.send(2).sge(a.memory, 0, 8).solicited();
            batch.submit();
        }
        pair.settle();
        assertThat(channel.poll()).contains(cq);
        cq.armSolicited();
        here.postSend(3, a.memory.slice(0, 65));
        pair.settle();
        assertThat(channel.poll()).as("an error").contains(cq);
    }

    @Test
    void waitingOnAChannelDrivesADeviceThatHasNoThread() throws InterruptedException {
        CompletionChannel channel = b.context.createCompletionChannel();
        CompletionQueue cq =
                b.context.createCompletionQueue(CompletionQueueOptions.of(64).withChannel(channel));
        QueuePair there = b.domain.createQueuePair(QueuePairOptions.rc(cq));
        QueuePair here = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
        here.connect(there.endpoint());
        there.connect(here.endpoint());
        there.postReceive(1, b.memory.slice(0, 64));
        cq.arm();
        here.postSend(1, a.memory.slice(0, 8));
        a.context.drive();
        assertThat(channel.await(Duration.ofSeconds(1))).contains(cq);
        assertThat(channel.await(Duration.ofSeconds(1))).isEmpty();
    }

    @Test
    void aQueueTakesItsNotificationsWithIt() {
        CompletionChannel channel = a.context.createCompletionChannel();
        CompletionQueue cq =
                a.context.createCompletionQueue(CompletionQueueOptions.of(64).withChannel(channel));
        QueuePair qp = connection(cq);
        cq.arm();
        write(qp, 1);
        pair.settle();
        qp.close();
        cq.close();
        assertThat(channel.poll()).isEmpty();
        channel.close();
        assertThatThrownBy(channel::poll).isInstanceOf(InvalidStateException.class);
        assertThatThrownBy(() -> channel.await(Duration.ofSeconds(1))).isInstanceOf(InvalidStateException.class);
    }

    @Test
    void aQueueWithoutAChannelCannotBeArmed() {
        assertThatThrownBy(() -> a.cq.arm())
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("arm: %s was made without a channel", a.cq);
        assertThat(a.cq.channel()).isEmpty();
    }
}
