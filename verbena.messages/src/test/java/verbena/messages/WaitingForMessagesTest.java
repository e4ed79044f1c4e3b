package verbena.messages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Pending;
import verbena.verbs.Waiter;

/// One thread that waits for messages, peers and a wake-up together.
@Timeout(120)
class WaitingForMessagesTest {
    private static final int EACH = 30;

    private final AtomicBoolean isStopped = new AtomicBoolean();
    private final List<String> texts = new ArrayList<>();
    private final List<RemoteWorker> peers = new ArrayList<>();

    /// Starts a thread, whose end or failure completes the future.
    private static <T> CompletableFuture<T> start(Callable<T> body) {
        var result = new CompletableFuture<T>();
        Thread.startVirtualThread(() -> {
            try {
                result.complete(body.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static String text(MemorySegment memory, Received message) {
        return new String(memory.asSlice(0, message.length()).toArray(ValueLayout.JAVA_BYTE), UTF_8);
    }

    private int serve(Worker worker, WorkerListener listener, Waiter<Object> waiter) throws InterruptedException {
        MemorySegment into = MemorySegment.ofArray(new byte[40]);
        Pending<Received> next = worker.postReceive(TagFilter.any(), into);
        waiter.add(listener, listener);
        waiter.add(next, next);
        while (!isStopped.get()) {
            Object ready = waiter.await().orElse(null);
            if (ready == listener) {
                listener.poll().ifPresent(peers::add);
            } else if (ready == next) {
                Received message = next.await();
                texts.add(text(into, message));
                message.from().postSend(1, "thanks"); // the client sends on when it has this
                next = worker.postReceive(TagFilter.any(), into);
                waiter.add(next, next);
            }
        }
        assertThat(next.cancel()).isTrue();
        assertThat(next.isReady()).isTrue();
        while (waiter.await().orElse(null) != next) {
            listener.poll().ifPresent(peers::add);
        }
        assertThat(waiter.await(Duration.ZERO))
                .as("what is done is returned once")
                .isNotEqualTo(Optional.of(next));
        assertThatExceptionOfType(CancellationException.class).isThrownBy(next::await);
        return texts.size();
    }

    private static void ask(Worker client, List<InetSocketAddress> to) throws InterruptedException {
        MemorySegment answer = MemorySegment.ofArray(new byte[10]);
        try (RemoteWorker server = client.connect(to)) {
            for (int i = 0; i < EACH; i++) {
                Pending<Received> thanks = server.postReceive(TagFilter.any(), answer);
                server.postSend(0, "message " + i).await();
                thanks.await();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void oneThreadServesMessagesPeersAndAWakeUp(String device) throws Exception {
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Worker server = Worker.open(a, TwoWorkers.SMALL);
                Worker client = Worker.open(b, TwoWorkers.SMALL);
                var listener = server.listen(TwoWorkers.at(a));
                var waiter = new Waiter<>()) {
            CompletableFuture<Integer> served = start(() -> serve(server, listener, waiter));
            for (int i = 0; i < 3; i++) {
                ask(client, listener.localAddresses());
            }
            isStopped.set(true);
            waiter.wakeup();
            assertThat(served.get(60, TimeUnit.SECONDS)).isEqualTo(3 * EACH);
            assertThat(texts.subList(0, 3)).containsExactly("message 0", "message 1", "message 2");
            assertThat(peers).hasSize(3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aListenerAtSeveralDevicesIsASourceToo(String device) throws Exception {
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Context c = Device.named(device).open();
                Context d = Device.named(device).open();
                Worker server = Worker.open(List.of(a, b), TwoWorkers.SMALL);
                Worker client = Worker.open(List.of(c, d), TwoWorkers.SMALL);
                var listener = server.listen(0);
                var waiter = new Waiter<>()) {
            CompletableFuture<Integer> served = start(() -> serve(server, listener, waiter));
            ask(client, listener.localAddresses());
            isStopped.set(true);
            waiter.wakeup();
            assertThat(served.get(60, TimeUnit.SECONDS)).isEqualTo(EACH);
            assertThat(peers).hasSize(1);
        }
    }

    /// The thread reads for its worker while it waits, and the worker's end ends that.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aClosedWorkerEndsTheWait(String device) throws Exception {
        try (Context a = Device.named(device).open();
                var waiter = new Waiter<>()) {
            Worker worker = Worker.open(a, TwoWorkers.SMALL);
            Pending<Received> never = worker.postReceive(TagFilter.any(), MemorySegment.ofArray(new byte[1]));
            waiter.add(never, never);
            assertThat(waiter.await(Duration.ZERO)).isEmpty();
            CompletableFuture<Boolean> waited = start(() -> {
                waiter.await();
                return never.isDone();
            });
            worker.close();
            assertThat(waited.get(60, TimeUnit.SECONDS)).isTrue();
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(never::await)
                    .matches(e -> e.reason() == ConnectionException.Reason.CLOSED)
                    .matches(e -> never.failure().orElseThrow() == e);
            assertThatExceptionOfType(ConnectionException.class).isThrownBy(never::resultNow);
            assertThat(never)
                    .hasToString("pending result, failed: "
                            + never.failure().orElseThrow().getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aLostPeerIsASource(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                var waiter = new Waiter<String>()) {
            Pending<ConnectionException> lost = pair.toClient().whenLost();
            waiter.add(lost, "lost");
            assertThat(waiter.await(Duration.ZERO)).isEmpty();
            assertThat(lost).hasToString("pending result, outstanding");
            assertThatExceptionOfType(InvalidStateException.class)
                    .isThrownBy(lost::resultNow)
                    .withMessage("resultNow: the operation is still outstanding");
            CompletableFuture<Optional<String>> waited = start(waiter::await);
            pair.toServer().close();
            assertThat(waited.get(60, TimeUnit.SECONDS)).contains("lost");
            assertThat(waiter.await(Duration.ZERO)).as("once").isEmpty();
            assertThat(lost.resultNow().reason()).isEqualTo(ConnectionException.Reason.DISCONNECTED);
            assertThat(pair.toServer().whenLost().await().reason()).isEqualTo(ConnectionException.Reason.CLOSED);
            assertThat(lost.failure()).isEmpty();
            assertThat(lost).hasToString("pending result, done");
        }
    }

    /// Two threads wait for one worker: one leads and the other follows, and each gets its own message.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void twoWaitersShareAWorker(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            List<CompletableFuture<String>> both = new ArrayList<>();
            for (int tag = 1; tag <= 2; tag++) {
                MemorySegment into = MemorySegment.ofArray(new byte[40]);
                Pending<Received> its = pair.server().postReceive(TagFilter.exactly(tag), into);
                both.add(start(() -> {
                    try (var waiter = new Waiter<>()) {
                        waiter.add(its, its);
                        waiter.await();
                        return text(into, its.await());
                    }
                }));
            }
            pair.toServer().postSend(2, "second").await();
            assertThat(both.get(1).get(60, TimeUnit.SECONDS)).isEqualTo("second");
            pair.toServer().postSend(1, "first").await();
            assertThat(both.get(0).get(60, TimeUnit.SECONDS)).isEqualTo("first");
        }
    }
}
