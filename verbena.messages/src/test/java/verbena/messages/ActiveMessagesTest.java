package verbena.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Pending;

/// Active messages on real links of this host.
@Timeout(120)
class ActiveMessagesTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private static MemorySegment number(int value) {
        MemorySegment header = MemorySegment.ofArray(new byte[4]);
        header.set(ValueLayout.JAVA_INT_UNALIGNED, 0, value);
        return header;
    }

    private static int number(ActiveMessage message) {
        return message.header().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
    }

    private static byte[] pattern(int bytes, int seed) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) (i * 7 + i / 1000 + seed);
        }
        return data;
    }

    /// Short ones in order; long ones when they are read.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "rocev2,faults=loss:5%,seed:7", "iwarp", "shm"})
    void handlersGetHeaderAndDataOnce(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var handled = new AtomicInteger();
            var wrong = new ConcurrentLinkedQueue<String>();
            var lastShort = new AtomicInteger(-1);
            pair.server().onActive(7, message -> {
                int i = number(message);
                byte[] data = message.data().toArray(ValueLayout.JAVA_BYTE);
                if (!Arrays.equals(data, pattern(i % 10 == 9 ? 5000 : i % 900, i))
                        || message.from() != pair.toClient()) {
                    wrong.add("message " + i);
                }
                if (i % 10 != 9 && lastShort.getAndSet(i) > i) {
                    wrong.add("order of " + i);
                }
                handled.incrementAndGet();
            });
            var sent = new ArrayList<Pending<Void>>();
            for (int i = 0; i < 1000; i++) {
                byte[] data = pattern(i % 10 == 9 ? 5000 : i % 900, i);
                sent.add(pair.toServer().postActive(7, number(i), MemorySegment.ofArray(data)));
            }
            assertThat(pair.server().await(() -> handled.get() == 1000, LONG)).isTrue();
            for (Pending<Void> each : sent) {
                each.await();
            }
            assertThat(wrong).isEmpty();
            TwoWorkers.awaitNone(pair.server(), "requests.bytes");
        }
    }

    /// Two long ones fit into the budget; the third is read when one is released.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void whatIsKeptStaysUntilItIsReleased(String device) throws Exception {
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Worker server = Worker.open(a, TwoWorkers.SMALL.withBudgetBytes(1 << 20));
                Worker client = Worker.open(b, TwoWorkers.SMALL);
                var listener = server.listen(TwoWorkers.at(a))) {
            var accepted = TwoWorkers.accept(listener);
            RemoteWorker toServer = client.connect(listener.localAddress());
            accepted.get();
            var kept = new LinkedBlockingQueue<ActiveMessage>();
            server.onActive(0, message -> kept.add(message.keep()));
            toServer.postActive(0, number(1), MemorySegment.ofArray(pattern(300, 1)))
                    .await();
            for (int i = 2; i < 5; i++) {
                toServer.postActive(0, number(i), MemorySegment.ofArray(pattern(120_000, i)));
            }
            ActiveMessage first = kept.take();
            ActiveMessage second = kept.take();
            ActiveMessage third = kept.take();
            while (server.counters().get("requests.waiting") != 1) {
                Thread.onSpinWait(); // its offer is on the way
            }
            assertThat(kept).isEmpty();
            assertThat(first.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(pattern(300, 1));
            assertThat(second.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(pattern(120_000, 2));
            second.release();
            second.release();
            assertThatExceptionOfType(InvalidStateException.class).isThrownBy(second::data);
            assertThatExceptionOfType(InvalidStateException.class).isThrownBy(second::number);
            assertThatExceptionOfType(InvalidStateException.class).isThrownBy(second::headerBytes);
            assertThatExceptionOfType(InvalidStateException.class).isThrownBy(second::dataBytes);
            ActiveMessage fourth = kept.take();
            assertThat(number(fourth)).isEqualTo(4);
            assertThat(fourth.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(pattern(120_000, 4));
            first.release();
            third.release();
            fourth.release();
            assertThat(server.counters()).containsEntry("requests.bytes", 0L);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aHandlerMayAnswerAndMustNotWait(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var refused = new AtomicReference<RuntimeException>();
            pair.server().onActive(1, message -> {
                try {
                    message.from().call(new byte[1], LONG);
                } catch (InterruptedException | RuntimeException e) {
                    refused.set(new IllegalStateException(e));
                }
                message.from().postActive(2, message.header(), message.data());
            });
            var answers = new AtomicInteger();
            pair.client().onActive(2, message -> answers.addAndGet((int) message.dataBytes()));
            pair.toServer().postActive(1, number(1), MemorySegment.ofArray(new byte[100]));
            pair.toServer().postActive(1, number(2), MemorySegment.ofArray(new byte[5000]));
            assertThat(pair.client().await(() -> answers.get() == 5100, LONG)).isTrue();
            assertThat(refused.get()).hasMessageContaining("must not wait");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aMessageWithoutAHandlerIsCountedAndOneTooLongIsRefused(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            pair.toServer().postActive(3, number(1), MemorySegment.NULL).await();
            pair.toServer()
                    .postActive(3, number(1), MemorySegment.ofArray(new byte[5000]))
                    .await();
            assertThat(pair.server().counters()).containsEntry("active.dropped", 2L);
            RemoteWorker peer = pair.toServer();
            assertThatIllegalArgumentException().isThrownBy(() -> peer.postActive(1024, number(1), MemorySegment.NULL));
            MemorySegment header = MemorySegment.ofArray(new byte[peer.maxActiveHeaderBytes() + 1]);
            assertThatIllegalArgumentException().isThrownBy(() -> peer.postActive(3, header, MemorySegment.NULL));
            MemorySegment data = MemorySegment.ofArray(new byte[(int) peer.maxActiveBytes() + 1]);
            assertThatIllegalArgumentException().isThrownBy(() -> peer.postActive(3, number(1), data));
            assertThatIllegalArgumentException().isThrownBy(() -> peer.tryPostActive(-1, number(1), data));
            assertThatIllegalArgumentException().isThrownBy(() -> pair.server().onActive(1024, _ -> {}));
            MemorySegment longest = MemorySegment.ofArray(new byte[(int) peer.maxActiveBytes()]);
            assertThat(peer.tryPostActive(3, number(1), longest)).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aHandlerThatFailsEndsItsPeerAlone(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            pair.server().onActive(1, _ -> {
                throw new IllegalArgumentException("not mine");
            });
            Pending<Received> waiting = pair.toClient().postReceive(TagFilter.any(), number(0));
            pair.toServer().postActive(1, number(1), MemorySegment.NULL);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(waiting::await)
                    .withMessageContaining("not mine");
            try (var listener = pair.server().listen(TwoWorkers.at(pair.a()))) {
                var accepted = TwoWorkers.accept(listener);
                RemoteWorker again = pair.client().connect(listener.localAddress());
                again.postSend(1, "on").await();
                assertThat(accepted.get()
                                .postReceive(TagFilter.exactly(1), number(0))
                                .await()
                                .length())
                        .isEqualTo(2);
            }
        }
    }

    /// There and back on one thread for both ends, a thousand times: three rounds of four make no object at all.
    /// A thread that meets the keeper of the worker makes some, and the keeper looks every millisecond. So the
    /// sum of bytes depends on the load of the machine, and tells nothing. The first batches make more, before
    /// all is compiled.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aShortMessageMakesNoObject(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared()) {
            MemorySegment header = arena.allocate(8);
            MemorySegment data = arena.allocate(64);
            MemorySegment copy = arena.allocate(64);
            MemorySegment headerCopy = arena.allocate(8);
            var rounds = new int[3];
            pair.server().onActive(1, message -> {
                message.copyHeader(headerCopy);
                message.copyData(copy);
                rounds[0]++;
                if (!message.from().tryPostActive(2, headerCopy, copy)) {
                    message.from().postActive(2, headerCopy, copy); // it may have no credit for a moment
                }
            });
            pair.client().onActive(2, _ -> rounds[1]++);
            BooleanSupplier isThere = () -> rounds[0] == rounds[2];
            BooleanSupplier isBack = () -> rounds[1] == rounds[2];
            var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            int most = 0;
            for (int batch = 0; batch < 30 && most < 750; batch++) {
                int without = 0;
                for (int i = 0; i < 1000; i++) {
                    long before = threads.getCurrentThreadAllocatedBytes();
                    rounds[2]++;
                    if (!pair.toServer().tryPostActive(1, header, data)) {
                        pair.toServer().postActive(1, header, data);
                    }
                    pair.server().await(isThere);
                    pair.client().await(isBack);
                    if (threads.getCurrentThreadAllocatedBytes() == before) {
                        without++;
                    }
                }
                most = Math.max(most, without);
            }
            assertThat(rounds[1]).isEqualTo(rounds[2]);
            assertThat(most).isGreaterThanOrEqualTo(750);
        }
    }
}
