package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
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
import verbena.verbs.internal.DeviceWait;
import verbena.verbs.internal.WaitableChannel;

/// A thread that waits for a device, for descriptors and for other threads at once.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeviceWaitTest {
    private static final long SOON = Duration.ofSeconds(20).toNanos();

    private final List<VerbsObject> made = new ArrayList<>();
    private final Context a = made(Device.named("rocev2").open());
    private final Context b = made(Device.named("rocev2").open());
    private final WaitableChannel channel = (WaitableChannel) made(b.createCompletionChannel());
    private final End here = new End(a, Optional.empty());
    private final End there = new End(b, Optional.of(channel));
    private final AtomicBoolean hasCome = new AtomicBoolean();
    private final DeviceWait waiter = channel.waiter(hasCome::get);
    private final WorkCompletion wc = new WorkCompletion();

    DeviceWaitTest() {
        here.qp.connect(there.qp.endpoint(), EndpointOptions.defaults());
        there.qp.connect(here.qp.endpoint(), EndpointOptions.defaults());
        channel.waitSource().addListener(() -> hasCome.set(channel.take().isPresent() || hasCome.get()));
    }

    private <T extends VerbsObject> T made(T object) {
        made.add(object);
        return object;
    }

    @BeforeEach
    void checkThatTheLinkCanBePolled() {
        hasCome.set(true);
        assumeTrue(waiter.await(SOON), "this link cannot be polled: not Linux");
        hasCome.set(false);
    }

    @AfterEach
    void close() {
        made.reversed().forEach(VerbsObject::close);
    }

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

    private void send(long number) {
        there.cq.arm();
        there.qp.postReceive(number, there.memory.slice(0, 8));
        here.qp.postSend(number, here.memory.slice(0, 8));
    }

    private static void awaitUntil(DeviceWait waiter, BooleanSupplier isThere) {
        long end = System.nanoTime() + SOON;
        while (!isThere.getAsBoolean()) {
            assertThat(waiter.await(SOON)).isTrue();
            assertThat(System.nanoTime() - end).as("nanoseconds late").isNegative();
        }
    }

    @Test
    void messagesWakeTheThreadThatWaitsThere() throws InterruptedException {
        for (int i = 0; i < 1_000; i++) {
            send(i);
            awaitUntil(waiter, hasCome::get);
            hasCome.set(false);
            assertThat(waiter.isReady()).isFalse();
            assertThat(there.cq.poll(wc)).isTrue();
            assertThat(wc.wrId()).isEqualTo(i);
            assertThat(here.cq.await(wc, Duration.ofNanos(SOON))).isTrue();
        }
    }

    @Test
    void anotherThreadEndsTheWaitAtAnyMoment() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            var other = CompletableFuture.runAsync(() -> {
                hasCome.set(true);
                waiter.wake();
            });
            awaitUntil(waiter, hasCome::get);
            other.get();
            hasCome.set(false);
        }
    }

    @Test
    void aDescriptorEndsTheWaitAndIsToldOf() {
        try (Arena arena = Arena.ofConfined()) {
            var counter = new EventCounter(new LinuxSockets(arena), arena);
            assertThat(waiter.watch(counter.fd(), LinuxAbi.POLLIN)).isTrue();
            counter.ring();
            awaitUntil(waiter, waiter::isReady);
            waiter.watchNone();
            assertThat(waiter.await(1)).isTrue();
            assertThat(waiter.isReady()).isFalse();
            counter.close();
        }
    }

    @Test
    void theTimeEndsTheWait() {
        long start = System.nanoTime();
        assertThat(waiter.await(Duration.ofMillis(5).toNanos())).isTrue();
        assertThat(System.nanoTime() - start).isLessThan(SOON);
        assertThat(hasCome).isFalse();
    }

    @Test
    void moreDescriptorsThanItCanWatchAreRefused() {
        int count = 0;
        while (count < 10_000 && waiter.watch(0, LinuxAbi.POLLIN)) {
            count++;
        }
        assertThat(count).isBetween(1, 9_999);
        waiter.watchNone();
        assertThat(waiter.watch(0, LinuxAbi.POLLIN)).isTrue();
    }

    @Test
    void aSecondThreadIsSentElsewhereAndTheDevicesThreadBringsItsNews() throws Exception {
        var isThere = new CountDownLatch(1);
        var first = new AtomicBoolean();
        DeviceWait other = channel.waiter(() -> {
            isThere.countDown();
            return first.get();
        });
        var guest = CompletableFuture.runAsync(() -> {
            while (!first.get()) {
                boolean _ = other.await(SOON); // in vain while the thread below has the place
            }
        });
        isThere.await();
        while (waiter.await(1)) { // until the other thread has the place
            Thread.onSpinWait();
        }
        waiter.beginElsewhere();
        first.set(true);
        other.wake();
        guest.get();
        assertThat(other.await(SOON)).isTrue(); // it has what it waits for
        first.set(false);
        assertThat(other.await(SOON)).isFalse();
        send(7);
        long end = System.nanoTime() + SOON;
        while (!hasCome.get()) {
            assertThat(System.nanoTime() - end).as("nanoseconds late").isNegative();
            Thread.onSpinWait();
        }
        waiter.endElsewhere();
    }
}
