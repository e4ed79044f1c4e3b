package verbena.nic.connect;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.InvalidStateException;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Pending;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Waiter;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Connections that stand on objects of the program. Over each kind of software device.
@Timeout(120)
class SharingTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    /// Connections of one listener, and their peers.
    private record Star(List<Connection> accepted, List<Connection> clients) implements AutoCloseable {
        static Star of(int count, Context at, Context from, ConnectionOptions options) throws Exception {
            var star = new Star(new ArrayList<>(), new ArrayList<>());
            var address = new InetSocketAddress(at.gid(1, 0).gid().address(), 0);
            try (var listener = ConnectionListener.bind(address, options)) {
                for (int i = 0; i < count; i++) {
                    var accepted = CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    return listener.accept();
                                } catch (InterruptedException e) {
                                    throw new IllegalStateException(e);
                                }
                            },
                            Thread::startVirtualThread);
                    star.clients.add(Connection.connect(
                            listener.localAddress(),
                            ConnectionOptions.defaults().withDevice(from)));
                    star.accepted.add(accepted.get(60, TimeUnit.SECONDS));
                }
            }
            return star;
        }

        @Override
        public void close() {
            clients.forEach(Connection::close);
            accepted.forEach(Connection::close);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aTableOfASharedDomainServesAllItsConnectionsAndNoOther(String device) throws Exception {
        try (Context server = Device.named(device).open();
                Context client = Device.named(device).open();
                ProtectionDomain domain = server.allocateProtectionDomain();
                MemoryRegion table = domain.allocate(64, Access.remoteAll())) {
            table.segment().set(JAVA_LONG, 8, 77);
            var options = ConnectionOptions.defaults().withProtectionDomain(domain);
            assertThat(options.device()).containsSame(server);
            try (var star = Star.of(3, server, client, options);
                    var others = Star.of(
                            1, server, client, ConnectionOptions.defaults().withDevice(server))) {
                for (Connection each : star.accepted) {
                    assertThat(each.queuePair().protectionDomain()).isSameAs(domain);
                }
                for (Connection each : star.clients) {
                    byte[] read = each.read(table.remote().slice(8, 8));
                    assertThat(read[0]).isEqualTo((byte) 77);
                }
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() ->
                                others.clients.getFirst().read(table.remote().slice(8, 8)));
                Connection first = star.accepted.getFirst();
                first.close(); // the domain stays
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> first.allocate(8))
                        .withMessageContaining("allocate");
                assertThat(star.clients.get(1).read(table.remote().slice(8, 8))[0])
                        .isEqualTo((byte) 77);
            }
            assertThat(domain.isClosed()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aLentQueueThatOverflowsIsAFailureOfThisSide(String device) throws Exception {
        try (Context server = Device.named(device).open();
                Context client = Device.named(device).open();
                ProtectionDomain domain = server.allocateProtectionDomain();
                CompletionQueue queue = server.createCompletionQueue(2);
                MemoryRegion memory = domain.allocate(100, Access.local());
                var waiter = new Waiter<Object>()) {
            waiter.add(server.asyncEvents(), server);
            var options =
                    ConnectionOptions.defaults().withProtectionDomain(domain).withCompletionQueues(queue, queue);
            try (var star = Star.of(1, server, client, options)) {
                Connection accepted = star.accepted.getFirst();
                int more = queue.capacity() + 1;
                for (int i = 0; i < more; i++) {
                    accepted.queuePair().postReceive(i, memory.slice(0, 1));
                }
                waiter.add(accepted.whenClosed(), accepted);
                for (int i = 0; i < more; i++) {
                    Pending<Void> _ = star.clients.getFirst().postSend(one(star.clients.getFirst()));
                }
                var found = new ArrayList<Object>();
                while (!found.contains(accepted) || !found.contains(server)) {
                    Object next = waiter.await(LONG).orElseThrow();
                    found.add(next);
                    if (next == server) {
                        assertThat(server.pollAsyncEvent().orElseThrow().type())
                                .isIn(AsyncEvent.Type.CQ_ERR, AsyncEvent.Type.QP_FATAL);
                    }
                }
                assertThat(accepted.whenClosed().resultNow())
                        .hasMessageContaining("entries overflowed")
                        .returns(ConnectionException.Reason.FAILED, ConnectionException::reason);
            }
        }
    }

    private static LocalMemory one(Connection connection) {
        return connection.allocate(1).slice(0, 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void theEndOfAConnectionTakesNoCompletionFromALentQueue(String device) throws Exception {
        try (Context server = Device.named(device).open();
                Context client = Device.named(device).open();
                ProtectionDomain domain = server.allocateProtectionDomain();
                CompletionQueue queue = server.createCompletionQueue(100);
                MemoryRegion memory = domain.allocate(100, Access.local())) {
            var options =
                    ConnectionOptions.defaults().withProtectionDomain(domain).withCompletionQueues(queue, queue);
            try (var star = Star.of(1, server, client, options)) {
                Connection accepted = star.accepted.getFirst();
                accepted.queuePair().postReceive(7, memory.slice(0, 100));
                star.clients.getFirst().send("last words");
                var ended = accepted.whenClosed().toFuture();
                star.clients.getFirst().close();
                assertThat(ended.get(60, TimeUnit.SECONDS).reason()).isEqualTo(ConnectionException.Reason.DISCONNECTED);
                var wc = new WorkCompletion();
                assertThat(queue.await(wc, Duration.ofSeconds(10))).isTrue();
                assertThat(wc.wrId()).isEqualTo(7);
                assertThat(wc.ok()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void connectionsShareReceivesAndTheirCompletions(String device) throws Exception {
        try (Context server = Device.named(device).open();
                Context client = Device.named(device).open();
                ProtectionDomain domain = server.allocateProtectionDomain();
                CompletionQueue sends = server.createCompletionQueue(100);
                CompletionQueue receives = server.createCompletionQueue(100);
                SharedReceiveQueue queue = domain.createSharedReceiveQueue(16, 1);
                MemoryRegion memory = domain.allocate(1600, Access.local())) {
            for (int i = 0; i < 16; i++) {
                queue.postReceive(i, memory.slice(i * 100L, 100));
            }
            var options = ConnectionOptions.defaults()
                    .withProtectionDomain(domain)
                    .withCompletionQueues(sends, receives)
                    .withSharedReceiveQueue(queue);
            try (var star = Star.of(4, server, client, options)) {
                Map<Integer, Connection> byNumber = new HashMap<>();
                star.accepted.forEach(each -> byNumber.put(each.queuePair().qpn(), each));
                var wc = new WorkCompletion();
                for (int i = 0; i < 12; i++) {
                    star.clients.get(i % 4).send("from " + i);
                    assertThat(receives.await(wc, LONG)).isTrue();
                    assertThat(wc.ok()).as("%s", wc).isTrue();
                    Connection from = byNumber.get(wc.qpn());
                    assertThat(from).isSameAs(star.accepted.get(i % 4));
                    Connection to = star.clients.get(i % 4);
                    var answer = CompletableFuture.supplyAsync(() -> received(to), Thread::startVirtualThread);
                    from.queuePair().postSend(1000 + i, memory.slice(wc.wrId() * 100, wc.byteLength()));
                    assertThat(sends.await(wc, LONG)).isTrue();
                    assertThat(wc.wrId()).isEqualTo(1000 + i);
                    assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo("from " + i);
                }
            }
        }
    }

    /// All receives of the queue may complete for one connection. A smaller queue of completions would overflow.
    @Test
    void aConnectionHasRoomForTheCompletionsOfAllReceivesOfALentQueue() throws Exception {
        try (Context server = Device.named("shm").open();
                Context client = Device.named("shm").open();
                ProtectionDomain domain = server.allocateProtectionDomain();
                SharedReceiveQueue queue = domain.createSharedReceiveQueue(500, 1)) {
            var options =
                    ConnectionOptions.defaults().withProtectionDomain(domain).withSharedReceiveQueue(queue);
            try (var star = Star.of(1, server, client, options)) {
                QueuePairOptions its = star.accepted.getFirst().queuePair().options();
                assertThat(its.receiveCq().capacity()).isGreaterThanOrEqualTo(queue.maxWr());
            }
        }
    }

    private static String received(Connection at) {
        try {
            return at.receiveText(100);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatTheProgramPollsIsNotAskedOfTheConnection() throws Exception {
        try (Context server = Device.named("shm").open();
                Context client = Device.named("shm").open();
                CompletionQueue queue = server.createCompletionQueue(200)) {
            var options = ConnectionOptions.defaults().withCompletionQueues(queue, queue);
            try (var star = Star.of(1, server, client, options)) {
                Connection one = star.accepted.getFirst();
                MemoryRegion memory = one.allocate(8);
                for (ThrowingCallable each : List.<ThrowingCallable>of(
                        () -> one.send("text"),
                        () -> one.receive(8),
                        () -> one.postReceive(memory.slice(0, 8)),
                        () -> one.fetchAdd(memory.remote(), 1))) {
                    assertThatExceptionOfType(InvalidStateException.class)
                            .isThrownBy(each)
                            .withMessageContaining("post on its queue pair");
                }
            }
            assertThat(queue.isClosed()).isFalse();
        }
    }

    @Test
    void optionsThatContradictAreRefused() {
        try (Context one = Device.named("shm").open();
                Context other = Device.named("shm").open();
                ProtectionDomain domain = one.allocateProtectionDomain();
                SharedReceiveQueue queue = domain.createSharedReceiveQueue(1, 1);
                CompletionQueue foreign = other.createCompletionQueue(1)) {
            var options = ConnectionOptions.defaults().withProtectionDomain(domain);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.withDevice(other))
                    .withMessageContaining("device");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.withCompletionQueues(foreign, foreign))
                    .withMessageContaining("one device");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.withSharedReceiveQueue(queue).withReceivesAhead(10))
                    .withMessageContaining("receiveAheadBytes");
        }
    }
}
