package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Pending;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ReceivedMessage;

/// The end of a connection and its room, as it tells of them, and the immediate data of its messages.
@Timeout(120)
class ConnectionEndTest {
    private static ConnectionException ended(Connection connection) throws Exception {
        return connection.whenClosed().toFuture().get(60, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void thePeersEndIsToldWithItsReason(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            assertThat(ends.server().isOpen()).isTrue();
            assertThat(ends.server().whenClosed() == ends.server().whenClosed()).isTrue();
            assertThat(ends.server().whenClosed().isDone()).isFalse();
            ends.client().close();
            ConnectionException why = ended(ends.server());
            assertThat(why.reason()).isEqualTo(Reason.DISCONNECTED);
            assertThat(why).hasMessageContaining("has disconnected");
            assertThat(ends.server().isOpen()).isFalse();
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.server().awaitRoom(Duration.ZERO))
                    .matches(e -> e.reason() == Reason.DISCONNECTED);
        }
    }

    /// Those who want no probes for long name the longest time that there is.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "iwarp,link=portable", "shm"})
    void thePeerMayBeSilentForAsLongAsCanBeSaid(String device) throws Exception {
        for (Duration silence : new Duration[] {Duration.ofNanos(Long.MAX_VALUE), ChronoUnit.FOREVER.getDuration()}) {
            var patient = ConnectionOptions.defaults().withParameters(own -> own.withKeepAlive(silence));
            try (var ends = ConnectedEnds.of(device, patient)) {
                MemoryRegion memory = ends.server().allocate(8, Access.remoteAll());
                ends.client().write(new byte[] {7}, memory.remote());
                assertThat(ends.client().read(memory.remote().slice(0, 1))).containsExactly(7);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void theOwnEndIsTold(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            var watched = ends.client().whenClosed().toFuture();
            long begin = System.nanoTime();
            ends.client().close();
            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isLessThan(Duration.ofMillis(900)); // of the farewell
            assertThat(watched.get(60, TimeUnit.SECONDS).reason()).isEqualTo(Reason.CLOSED);
            assertThat(ends.client().isOpen()).isFalse();
            ends.server().close();
            assertThat(ended(ends.server()).reason()).isEqualTo(Reason.CLOSED); // asked afterwards
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aRequestThatFailsIsTheReason(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion secret = ends.server().allocate(8);
            var watched = ends.client().whenClosed().toFuture();
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.client().read(secret.remote()));
            assertThat(ends.client().isOpen()).isFalse();
            assertThat(watched.get(60, TimeUnit.SECONDS).reason())
                    .isIn(Reason.FAILED, Reason.DISCONNECTED); // the peer's end may be seen first
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.client().awaitRoom(Duration.ZERO))
                    .matches(e -> e.reason() == Reason.FAILED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aProgramMayCloseTheConnectionWhenItHasEnded(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            var closed = ends.server().whenClosed().toFuture().thenRun(ends.server()::close);
            ends.client().close();
            closed.get(60, TimeUnit.SECONDS);
            assertThat(ends.server().queuePair().isClosed()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"}) // over iWARP a SEND is done when TCP has it
    void aThreadThatDoesNotWaitSeesThatThereIsNoRoom(String device) throws Exception {
        var two = ConnectionOptions.defaults().withDepth(2, 2).withInline(0);
        try (var ends = ConnectedEnds.of(device, two)) {
            MemoryRegion from = ends.client().allocate(8);
            var posted = new ArrayList<Pending<?>>();
            while (ends.client().awaitRoom(Duration.ZERO)) { // the peer has posted no receive
                posted.add(ends.client().postSend(from));
            }
            assertThat(posted).hasSize(2);
            assertThat(ends.client().awaitRoom(Duration.ofMillis(5))).isFalse();
            var waiting = CompletableFuture.supplyAsync(() -> awaitRoom(ends.client()), Thread::startVirtualThread);
            ends.server().receive(8);
            assertThat(waiting.get(60, TimeUnit.SECONDS)).isTrue();
            ends.server().receive(8);
            for (Pending<?> each : posted) {
                each.await();
            }
        }
    }

    private static boolean awaitRoom(Connection connection) {
        try {
            return connection.awaitRoom(Duration.ofSeconds(60));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @CsvSource({"rocev2, 0", "rocev2, 100", "iwarp, 0", "iwarp, 100", "shm, 0", "shm, 100"})
    void immediateDataReachABlockingReceive(String device, int aheadBytes) throws Exception {
        ConnectionOptions plain = ConnectionOptions.defaults();
        try (var ends = ConnectedEnds.of(device, aheadBytes == 0 ? plain : plain.withReceivesAhead(aheadBytes))) {
            MemoryRegion target = ends.server().allocate(1000, Access.remoteAll());
            MemoryRegion into = ends.server().allocate(10);
            into.segment().fill((byte) 7);
            MemoryRegion from = ends.client().allocate(1000);
            Pending<?> sent = ends.client().postWriteWithImmediate(from, target.remote(), -5);
            assertThat(ends.server().receive(into)).isEqualTo(new ReceivedMessage(1000, OptionalInt.of(-5)));
            sent.await();
            assertThat(into.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);

            ends.client().postWriteWithImmediate(from, target.remote(), 1);
            assertThat(ends.server().receive(10)).isEmpty(); // the WRITE is no message

            Pending<?> last = ends.client().postSend(from.slice(0, 3));
            assertThat(ends.server().receive(into)).isEqualTo(new ReceivedMessage(3, OptionalInt.empty()));
            last.await();
        }
    }
}
