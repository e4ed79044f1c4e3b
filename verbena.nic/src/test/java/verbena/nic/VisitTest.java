package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.foreign.SystemFunction;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsObject;
import verbena.verbs.WorkCompletion;
import verbena.verbs.internal.WaitableChannel;

/// A caller that sleeps by its own system calls attends to the device between them.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VisitTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final List<VerbsObject> made = new ArrayList<>();
    private final Context a = made(Device.named("rocev2").open());
    private final Context b = made(Device.named("rocev2").open());
    private final WaitableChannel channel = (WaitableChannel) made(b.createCompletionChannel());
    private final Semaphore told = new Semaphore(0);
    private final End here = new End(a, Optional.empty());
    private final End there = new End(b, Optional.of(channel));
    private final MemorySegment pollfds = Arena.ofAuto().allocate(512, 8);
    private final WorkCompletion wc = new WorkCompletion();

    VisitTest() {
        here.qp.connect(there.qp.endpoint(), EndpointOptions.defaults());
        there.qp.connect(here.qp.endpoint(), EndpointOptions.defaults());
        channel.waitSource().addListener(told::release);
    }

    private <T extends VerbsObject> T made(T object) {
        made.add(object);
        return object;
    }

    @AfterEach
    void close() {
        made.reversed().forEach(VerbsObject::close);
    }

    /// One end of a connection.
    private final class End {
        final CompletionQueue cq;
        final QueuePair qp;
        final MemoryRegion memory;

        End(Context context, Optional<WaitableChannel> channel) {
            var domain = made(context.allocateProtectionDomain());
            memory = made(domain.allocate(64, Access.local()));
            cq = made(context.createCompletionQueue(new CompletionQueueOptions(64, channel.map(each -> each), false)));
            qp = made(domain.createQueuePair(QueuePairOptions.rc(cq)));
        }
    }

    /// Begins a visit; skips the test where the link cannot be polled.
    private int begin() {
        int answer = channel.visit(pollfds);
        assumeTrue(answer != WaitableChannel.ELSEWHERE, "this link cannot be polled: not Linux");
        return answer;
    }

    /// Visits as a caller does whose poll(2) returns at once, again and again.
    private void visit() {
        int answer = begin();
        long end = System.nanoTime() + SOON.toNanos();
        while (answer > 0) {
            assertThat(System.nanoTime() - end).as("nanoseconds late").isNegative();
            Thread.onSpinWait();
            answer = channel.goOn(pollfds);
        }
        assertThat(answer).isEqualTo(WaitableChannel.OVER);
    }

    private void send(long number) {
        there.cq.arm();
        there.qp.postReceive(number, there.memory.slice(0, 8));
        here.qp.postSend(number, here.memory.slice(0, 8));
    }

    private void expect(long number) {
        assertThat(channel.take()).contains(there.cq);
        assertThat(there.cq.poll(wc)).isTrue();
        assertThat(wc.wrId()).isEqualTo(number);
        assertThat(channel.take()).isEmpty();
    }

    @Test
    void aVisitBringsWhatHasBeenWaitedFor() throws InterruptedException {
        for (int i = 0; i < 1_000; i++) {
            send(i);
            visit();
            expect(i);
            assertThat(here.cq.await(wc, SOON)).isTrue();
        }
        assertThat(told.availablePermits()).isEqualTo(1_000);
    }

    @Test
    void theDeviceLooksAfterItselfWhenAVisitHasEnded() throws InterruptedException {
        assertThat(begin()).isPositive();
        channel.endVisit();
        send(1);
        assertThat(told.tryAcquire(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        expect(1);
    }

    @Test
    void oneThreadAtATimeVisits() {
        assertThat(begin()).isPositive();
        assertThat(CompletableFuture.supplyAsync(() -> channel.visit(pollfds)).join())
                .isEqualTo(WaitableChannel.ELSEWHERE);
        send(1);
        int answer = channel.goOn(pollfds);
        while (answer > 0) {
            answer = channel.goOn(pollfds);
        }
        expect(1);
    }

    @Test
    void aVisitorIsWokenFromItsSleepAndGoesOn() {
        SystemFunction poll = SystemFunction.named("poll");
        long forever = -1;
        int count = begin();
        assertThat(count).isPositive();
        CompletableFuture.runAsync(channel::wake).join();
        assertThat(poll.call(pollfds.address(), count, forever)).isPositive();
        assertThat(channel.goOn(pollfds)).isPositive();
        channel.endVisit();
    }

    /// A visitor whose thread was cancelled, for instance.
    @Test
    void aDeviceIsClosedWhoseVisitorNeverComesAgain() {
        assertThat(begin()).isPositive();
    }

    @Test
    void aVisitEndsWhenTheChannelIsClosed() {
        var other = (WaitableChannel) made(b.createCompletionChannel());
        int answer = other.visit(pollfds);
        assumeTrue(answer > 0, "this link cannot be polled: not Linux");
        other.close();
        while (answer > 0) {
            answer = other.goOn(pollfds);
        }
        assertThat(answer).isEqualTo(WaitableChannel.OVER);
        assertThat(other.isOpen()).isFalse();
    }
}
