package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsObject;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.DeviceChoice;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// A thread that waits for a completion attends to the engine meanwhile, in place of the engine's thread.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AttendTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration LATER = Duration.ofMinutes(10);
    private static final int INTERRUPTS = 20_000;

    private final List<VerbsObject> made = new ArrayList<>();
    private final Context a = made(Device.named("rocev2").open());
    private final Context b = made(Device.named("rocev2").open());

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

        End(Context context) {
            ProtectionDomain domain = made(context.allocateProtectionDomain());
            memory = made(domain.allocate(64, Access.local()));
            cq = made(context.createCompletionQueue(64));
            qp = made(domain.createQueuePair(QueuePairOptions.rc(cq)));
        }
    }

    private static void connect(End one, End other, EndpointOptions options) {
        one.qp.connect(other.qp.endpoint(), options);
        other.qp.connect(one.qp.endpoint(), options);
    }

    private static CompletableFuture<WcStatus> awaiting(CompletionQueue cq, Thread.Builder kind, List<Thread> threads) {
        var result = new CompletableFuture<WcStatus>();
        threads.add(kind.start(() -> {
            try {
                var wc = new WorkCompletion();
                result.complete(cq.await(wc, LATER) ? wc.status() : WcStatus.GENERAL_ERR);
            } catch (InterruptedException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        }));
        return result;
    }

    private static CompletableFuture<WcStatus> awaiting(CompletionQueue cq, List<Thread> threads) {
        return awaiting(cq, Thread.ofPlatform().daemon(), threads);
    }

    /// Returns when the thread sleeps in the link.
    private static void sleepsInTheLink(Thread thread) {
        long end = System.nanoTime() + SOON.toNanos();
        while (!InTheLink.sleeps(thread)) {
            assertThat(System.nanoTime() - end).as("nanoseconds late").isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void anInterruptReachesAThreadInTheLink() {
        var threads = new ArrayList<Thread>();
        var result = awaiting(new End(a).cq, threads);
        sleepsInTheLink(threads.getFirst());
        threads.getFirst().interrupt();
        assertThatThrownBy(() -> result.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(InterruptedException.class);
    }

    /// The interrupting thread checks whether the other sleeps, and the other checks whether it is interrupted. So
    /// one of them sees the other, whichever comes first.
    @Test
    void anInterruptReachesAThreadThatIsAboutToSleep() {
        CompletionQueue cq = new End(a).cq;
        var interrupted = new AtomicInteger();
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            var wc = new WorkCompletion();
            while (interrupted.get() < INTERRUPTS) {
                try {
                    boolean _ = cq.await(wc, LATER);
                } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                }
            }
        });
        for (int i = 0; i < INTERRUPTS; i++) {
            for (int k = 0; k < i % 1_000; k++) {
                Thread.onSpinWait();
            }
            waiter.interrupt();
            long end = System.nanoTime() + SOON.toNanos();
            while (interrupted.get() == i) {
                assertThat(System.nanoTime() - end).as("nanoseconds late").isNegative();
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void closingTheQueueEndsTheWait() {
        var threads = new ArrayList<Thread>();
        var end = new End(a);
        var result = awaiting(end.cq, threads);
        sleepsInTheLink(threads.getFirst());
        end.qp.close();
        end.cq.close();
        assertThatThrownBy(() -> result.get(SOON.toSeconds(), TimeUnit.SECONDS)).hasMessageContaining("closed");
    }

    /// The thread takes its message and does something else: other threads answer the peer.
    @Test
    void whatTheGuestLeavesIsDoneWithoutIt() throws Exception {
        var here = new End(a);
        var there = new End(b);
        connect(here, there, EndpointOptions.defaults());
        for (int i = 0; i < 2; i++) {
            there.qp.postReceive(i, there.memory.slice(0, 8));
        }
        var busy = new CountDownLatch(1);
        var wc = new WorkCompletion();
        var first = new CompletableFuture<Boolean>();
        Thread guest = Thread.ofPlatform().daemon().start(() -> {
            try {
                first.complete(there.cq.await(new WorkCompletion(), LATER));
                busy.await(); // with something slow
            } catch (InterruptedException | RuntimeException e) {
                first.completeExceptionally(e);
            }
        });
        sleepsInTheLink(guest);
        for (int i = 0; i < 2; i++) {
            here.qp.postSend(i, here.memory.slice(0, 8));
            assertThat(here.cq.await(wc, SOON)).isTrue();
            assertThat(wc.status()).isEqualTo(WcStatus.SUCCESS);
        }
        assertThat(first.get(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        busy.countDown();
    }

    /// Only one of them sleeps in the link. Its arrivals wake the others; so do arrivals after it has left.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eachOfManyWaitersIsWoken(boolean virtual) throws Exception {
        var here = new ArrayList<End>();
        var there = new ArrayList<End>();
        for (int i = 0; i < 8; i++) {
            here.add(new End(a));
            there.add(new End(b));
            connect(here.get(i), there.get(i), EndpointOptions.defaults());
        }
        for (int round = 0; round < 50; round++) {
            var threads = new ArrayList<Thread>();
            var results = new ArrayList<CompletableFuture<WcStatus>>();
            for (End end : there) {
                end.qp.postReceive(round, end.memory.slice(0, 8));
                results.add(awaiting(
                        end.cq,
                        virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon(),
                        threads));
            }
            for (End end : here) {
                end.qp.postSend(round, end.memory.slice(0, 8));
            }
            for (CompletableFuture<WcStatus> result : results) {
                assertThat(result.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(WcStatus.SUCCESS);
            }
            var wc = new WorkCompletion();
            for (End end : here) {
                assertThat(end.cq.await(wc, SOON)).isTrue();
            }
        }
    }

    /// The peer acknowledges nothing: the waiting thread handles the deadlines itself.
    @Test
    void aGuestMeetsTheDeadlines() throws Exception {
        var here = new End(a);
        var there = new End(b);
        connect(here, there, EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(4)), 2, 7));
        there.qp.close();
        var threads = new ArrayList<Thread>();
        var result = awaiting(here.cq, threads);
        sleepsInTheLink(threads.getFirst());
        here.qp.postSend(1, here.memory.slice(0, 8));
        assertThat(result.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(WcStatus.RETRY_EXC_ERR);
    }

    // ---- threads that wait for connections

    private CompletableFuture<ConnectionEvent> awaiting(EventChannel channel, List<Thread> threads) {
        var result = new CompletableFuture<ConnectionEvent>();
        threads.add(Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(channel.await(LATER).orElseThrow());
            } catch (InterruptedException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        }));
        return result;
    }

    private ConnectionId listening(EventChannel channel, Context at) {
        ConnectionId id = made(channel.createId(PortSpace.TCP));
        id.bind(new InetSocketAddress(at.gid(1, 0).gid().address(), 0));
        id.listen(4);
        return id;
    }

    /// A request that will not be decided on.
    private void ask(Context from, ConnectionId listener) throws InterruptedException {
        EventChannel channel = made(EventChannel.open(from));
        ConnectionId id = made(channel.createId(PortSpace.TCP));
        id.resolveAddress(listener.localAddress().orElseThrow());
        assertThat(channel.await(SOON)).isPresent();
        id.resolveRoute();
        assertThat(channel.await(SOON)).isPresent();
        QueuePair _ = made(id.createQueuePair(
                made(from.allocateProtectionDomain()), QueuePairOptions.rc(made(from.createCompletionQueue(4)))));
        id.connect(ConnectionParameters.defaults());
    }

    private void expectRequest(CompletableFuture<ConnectionEvent> event) throws Exception {
        ConnectionEvent first = event.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(first).isInstanceOf(ConnectionEvent.ConnectRequest.class);
        made(first.id());
    }

    @Test
    void aThreadThatWaitsForARequestSleepsInTheLink() throws Exception {
        EventChannel channel = made(EventChannel.open(a));
        ConnectionId listener = listening(channel, a);
        var threads = new ArrayList<Thread>();
        var event = awaiting(channel, threads);
        sleepsInTheLink(threads.getFirst());
        ask(b, listener);
        expectRequest(event);
        assertThat(channel.poll()).isEmpty();
    }

    @Test
    void aThreadThatWaitsForARequestGivesWayToOneThatWaitsForACompletion() throws Exception {
        EventChannel channel = made(EventChannel.open(a));
        ConnectionId listener = listening(channel, a);
        var threads = new ArrayList<Thread>();
        var event = awaiting(channel, threads);
        sleepsInTheLink(threads.getFirst());
        var end = new End(a);
        var other = new End(b);
        connect(end, other, EndpointOptions.defaults());
        end.qp.postReceive(1, end.memory.slice(0, 8));
        var status = awaiting(end.cq, threads);
        sleepsInTheLink(threads.get(1));
        assertThat(InTheLink.sleeps(threads.getFirst())).isFalse();
        other.qp.postSend(2, other.memory.slice(0, 8));
        assertThat(status.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(WcStatus.SUCCESS);
        ask(b, listener);
        expectRequest(event);
    }

    @Test
    void aThreadInTheLinkOfOneDeviceHearsOfARequestAtAnother() throws Exception {
        Gid ofA = a.gid(1, 0).gid();
        EventChannel channel = made(EventChannel.open(
                DeviceChoice.byAddress().withDevices(local -> Optional.of(local.equals(ofA) ? a : b))));
        ConnectionId _ = listening(channel, a);
        ConnectionId atB = listening(channel, b);
        var threads = new ArrayList<Thread>();
        var event = awaiting(channel, threads);
        sleepsInTheLink(threads.getFirst());
        ask(b, atB);
        expectRequest(event);
    }

    @Test
    void closingTheChannelOrAnInterruptEndsTheWaitForARequest() throws Exception {
        EventChannel channel = EventChannel.open(a);
        ConnectionId listener = channel.createId(PortSpace.TCP);
        listener.bind(new InetSocketAddress(a.gid(1, 0).gid().address(), 0));
        listener.listen(4);
        var threads = new ArrayList<Thread>();
        var interrupted = awaiting(channel, threads);
        sleepsInTheLink(threads.getFirst());
        threads.getFirst().interrupt();
        assertThatThrownBy(() -> interrupted.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(InterruptedException.class);
        var closed = awaiting(channel, threads);
        sleepsInTheLink(threads.get(1));
        listener.close();
        channel.close();
        assertThatThrownBy(() -> closed.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(InvalidStateException.class);
    }
}
