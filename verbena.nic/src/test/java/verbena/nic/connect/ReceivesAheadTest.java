package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Pending;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ReceivedMessage;

/// Connections that post receives by themselves. Over each kind of software device.
@Timeout(120)
class ReceivesAheadTest {
    private static final int MAX = 1000;
    private static final ConnectionOptions AHEAD = ConnectionOptions.defaults().withReceivesAhead(MAX);

    /// Over iWARP this ended the connection before: it has no RNR NAK.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void messagesWaitForTheProgram(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            for (int i = 0; i < 64; i++) { // as many as there are receives: none waits for the other end
                ends.client().send("message " + i);
            }
            for (int i = 0; i < 64; i++) {
                assertThat(ends.server().receiveText(100)).isEqualTo("message " + i);
            }
            assertThat(ends.serverDevice().counters().getOrDefault("sent.nak.rnr", 0L))
                    .isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void noMessageOfAPingPongMeetsAMissingReceive(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            Thread echo = Thread.startVirtualThread(() -> {
                try {
                    MemoryRegion memory = ends.server().allocate(MAX);
                    while (true) {
                        long length = ends.server().receive(memory).length();
                        ends.server().send(memory.slice(0, length));
                    }
                } catch (ConnectionException e) {
                    assertThat(e.reason()).isIn(Reason.DISCONNECTED, Reason.CLOSED);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            for (int i = 0; i < 1000; i++) {
                String sent = i + "x".repeat(i % 900);
                ends.client().send(sent);
                assertThat(ends.client().receiveText(MAX)).isEqualTo(sent);
            }
            assertThat(ends.serverDevice().counters().getOrDefault("sent.nak.rnr", 0L))
                    .isZero();
            assertThat(ends.clientDevice().counters().getOrDefault("sent.nak.rnr", 0L))
                    .isZero();
            ends.client().close();
            echo.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void eachMessageGoesToOneOfManyThreads(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            List<String> received = Collections.synchronizedList(new ArrayList<>());
            var all = new CountDownLatch(500);
            var threads = new ArrayList<Thread>();
            for (int i = 0; i < 100; i++) { // more than there are receives
                threads.add(Thread.startVirtualThread(() -> {
                    try {
                        while (true) {
                            received.add(ends.server().receiveText(MAX));
                            all.countDown();
                        }
                    } catch (ConnectionException e) {
                        assertThat(e.reason()).isEqualTo(Reason.CLOSED);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            var sent = new ArrayList<String>();
            for (int i = 0; i < 500; i++) {
                sent.add("message " + i);
                ends.client().send(sent.getLast());
            }
            assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(received).containsExactlyInAnyOrderElementsOf(sent);
            ends.server().close();
            for (Thread each : threads) {
                each.join();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void whatHasComeIsTakenBeforeTheEndIsTold(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            ends.client().send("last words");
            ends.client().close();
            assertThat(ends.server().receiveText(MAX)).isEqualTo("last words");
            for (int i = 0; i < 70; i++) { // more often than there are receives
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> ends.server().receive(MAX))
                        .matches(e -> e.reason() == Reason.DISCONNECTED);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aMessageThatIsLongerThanAskedForEndsTheConnection(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            var waiting = new CompletableFuture<Throwable>();
            ends.client().send("12345");
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.server().receive(4))
                    .matches(e -> e.reason() == Reason.FAILED)
                    .withMessageContaining("5 bytes, for 4");
            Thread.startVirtualThread(() -> {
                try {
                    ends.client().receive(MAX);
                } catch (Throwable e) {
                    waiting.complete(e);
                }
            });
            assertThat(waiting.get(60, TimeUnit.SECONDS)).isInstanceOf(ConnectionException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aThreadThatIsInterruptedEndsTheConnection(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            var thrown = new CompletableFuture<Throwable>();
            Thread waiting = Thread.startVirtualThread(() -> {
                try {
                    ends.server().receive(MAX);
                } catch (Throwable e) {
                    thrown.complete(e);
                }
            });
            waiting.interrupt();
            assertThat(thrown.get(60, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.server().receive(MAX))
                    .withMessageContaining("was interrupted in receive");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aThreadMayWaitForAMessageForATime(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            MemoryRegion memory = ends.server().allocate(MAX);
            for (int i = 0; i < 200; i++) { // more often than there are receives
                Pending<ReceivedMessage> next = ends.server().postReceive(memory);
                assertThat(next.await(Duration.ZERO)).isFalse();
                assertThat(next.isDone()).isFalse();
                ends.client().send("message " + i);
                assertThat(next.await(Duration.ofSeconds(60))).isTrue();
                assertThat(next.await().length()).isEqualTo(("message " + i).length());
                assertThat(text(memory, next.await().length())).isEqualTo("message " + i);
            }
        }
    }

    private static String text(MemoryRegion memory, long length) {
        return new String(memory.segment().asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void receivesOfTheProgramAreFilledInTheirOrderThoughItLooksInAnother(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            MemoryRegion memory = ends.server().allocate(64 * 16);
            var posted = new ArrayList<Pending<?>>();
            for (int i = 0; i < 64; i++) { // as many as there are
                posted.add(ends.server().postReceive(memory.slice(i * 16L, 16)));
            }
            var next = CompletableFuture.supplyAsync(() -> postReceive(ends, memory), Thread::startVirtualThread);
            for (int i = 0; i < 65; i++) {
                ends.client().send(new byte[] {(byte) i});
            }
            assertThat(next.get(60, TimeUnit.SECONDS).await().length()).isEqualTo(1); // when one was free
            for (int i = 63; i > 0; i--) {
                posted.get(i).await();
                assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, i * 16L)).isEqualTo((byte) i);
            }
            assertThat(posted.getFirst().isDone()).isTrue();
            assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 64); // of the last
        }
    }

    private static Pending<ReceivedMessage> postReceive(ConnectedEnds ends, MemoryRegion memory) {
        try {
            return ends.server().postReceive(memory.slice(0, 16));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aFutureOfAReceiveHasItsMessage(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            MemoryRegion memory = ends.server().allocate(MAX);
            var received = ends.server().postReceive(memory).toFuture().thenApply(done -> text(memory, done.length()));
            ends.client().send("to whom it concerns");
            assertThat(received.get(60, TimeUnit.SECONDS)).isEqualTo("to whom it concerns");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aMessageThatIsLongerThanThePostedMemoryEndsTheConnection(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            Pending<?> posted = ends.server().postReceive(ends.server().allocate(4));
            ends.client().send("12345");
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(posted::await)
                    .matches(e -> e.reason() == Reason.FAILED)
                    .withMessageContaining("5 bytes, for 4");
            assertThat(posted.isDone()).isTrue();
            assertThat(ends.server().isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void memoryThatTheProgramClosesMeanwhileEndsTheConnection(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, AHEAD)) {
            MemoryRegion memory = ends.server().allocate(100);
            Pending<?> posted = ends.server().postReceive(memory);
            memory.close();
            ends.client().send("too late");
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(posted::await)
                    .withMessageContaining("the program has closed");
        }
    }

    @Test
    void optionsThatContradictAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectionOptions.defaults().withReceivesAhead(0))
                .withMessageContaining("maxBytes");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AHEAD.withDepth(1, 0))
                .withMessageContaining("receiveAheadBytes");
    }
}
