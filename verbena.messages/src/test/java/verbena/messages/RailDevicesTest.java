package verbena.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.messages.protocol.Rails;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Pending;
import verbena.verbs.QueuePair;
import verbena.verbs.Transition;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Workers with two devices each, of which one is lost in the middle.
@Timeout(120)
class RailDevicesTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    /// Two workers, over two rails.
    private record Pair(
            List<Context> devices, Worker server, Worker client, RemoteWorker toClient, RemoteWorker toServer)
            implements AutoCloseable {
        static Pair of(String first, String second) throws Exception {
            var devices = new ArrayList<Context>();
            for (String each : List.of(first, second, first, second)) {
                devices.add(Device.named(each).open());
            }
            Worker server = Worker.open(devices.subList(0, 2), TwoWorkers.SMALL);
            Worker client = Worker.open(devices.subList(2, 4), TwoWorkers.SMALL);
            List<InetSocketAddress> at =
                    devices.subList(0, 2).stream().map(TwoWorkers::at).toList();
            try (var listener = server.listen(at)) {
                var accepted = TwoWorkers.accept(listener);
                RemoteWorker toServer = client.connect(listener.localAddresses());
                return new Pair(devices, server, client, accepted.get(60, TimeUnit.SECONDS), toServer);
            }
        }

        @Override
        public void close() {
            client.close();
            server.close();
            devices.forEach(Context::close);
        }
    }

    private static MemorySegment pattern(MemorySegment memory, int seed) {
        for (long i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + i / 1000 + seed));
        }
        return memory;
    }

    /// How a rail ends.
    enum End {
        /// The program gives the device back, and closes it.
        LEFT,
        /// The connection ends, and the peer hears of it.
        DISCONNECTED,
        /// A queue pair stops, and says nothing.
        SILENT
    }

    private static void end(Pair pair, int rail, End how) {
        QueuePair queuePair = pair.toServer.remote.ways().way(rail).queuePair();
        switch (how) {
            case LEFT -> {
                Context device = pair.devices.get(2 + rail);
                pair.client.leave(device);
                device.close();
            }
            case DISCONNECTED -> pair.toServer.remote.ways().way(rail).disconnect();
            case SILENT -> queuePair.modify(new Transition.ToError());
        }
    }

    /// Short and long messages both ways, while a rail is lost: each comes once and in order.
    @ParameterizedTest
    @CsvSource({
        "rocev2@127.0.0.2, rocev2@127.0.0.3, 0, LEFT",
        "rocev2@127.0.0.2, rocev2@127.0.0.3, 1, LEFT",
        "rocev2@127.0.0.2, rocev2@127.0.0.3, 0, DISCONNECTED",
        "rocev2@127.0.0.2, rocev2@127.0.0.3, 1, DISCONNECTED",
        "rocev2@127.0.0.2, rocev2@127.0.0.3, 0, SILENT",
        "shm, rocev2@127.0.0.2, 0, LEFT",
        "shm, rocev2@127.0.0.2, 0, SILENT",
        "shm, rocev2@127.0.0.2, 1, DISCONNECTED",
        "'rocev2@127.0.0.2,faults=loss:5%,seed:7', 'rocev2@127.0.0.3,faults=loss:5%,seed:8', 0, DISCONNECTED"
    })
    void messagesComeOnceAndInOrderWhileARailIsLost(String first, String second, int rail, End how) throws Exception {
        try (var pair = Pair.of(first, second);
                Arena arena = Arena.ofShared()) {
            var told = new CountDownLatch(2);
            pair.client.onRailLost(_ -> told.countDown());
            pair.server.onRailLost(_ -> told.countDown());
            int n = 400;
            var sent = new ArrayList<Pending<Void>>();
            var received = new ArrayList<Pending<Received>>();
            var memory = new ArrayList<MemorySegment>();
            for (int i = 0; i < n; i++) {
                int bytes = i % 40 == 39 ? 500_000 : i % 10 == 9 ? 5000 : 1 + i % 700;
                MemorySegment into = arena.allocate(500_000);
                memory.add(into);
                boolean isBack = i % 2 == 1;
                received.add((isBack ? pair.toServer : pair.toClient).postReceive(TagFilter.any(), into));
                MemorySegment from = pattern(arena.allocate(bytes), i);
                sent.add((isBack ? pair.toClient : pair.toServer).postSend(i, from));
                if (i == n / 2) {
                    end(pair, rail, how);
                }
            }
            for (int i = 0; i < n; i++) {
                assertThat(received.get(i).await(LONG)).isTrue();
                Received message = received.get(i).await();
                assertThat(message.tag()).isEqualTo(i); // the one that was sent before comes before
                assertThat(memory.get(i)
                                .asSlice(0, message.length())
                                .mismatch(pattern(arena.allocate(message.length()), i)))
                        .isEqualTo(-1);
            }
            for (Pending<Void> each : sent) {
                each.await();
            }
            assertThat(told.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(pair.toServer.railCount()).isEqualTo(1);
            assertThat(pair.toClient.railCount()).isEqualTo(1);
            assertThat(pair.server.counters().get("rails.lost")).isEqualTo(1);
            assertThat(pair.client.counters().get("rails.lost")).isEqualTo(1);
        }
    }

    /// A long message goes by both, and so do long puts and gets.
    @ParameterizedTest
    @CsvSource({"rocev2@127.0.0.2, rocev2@127.0.0.3", "shm, rocev2@127.0.0.2"})
    void longOnesGoByAllRails(String first, String second) throws Exception {
        try (var pair = Pair.of(first, second);
                Arena arena = Arena.ofShared();
                var shared = pair.server.share(arena.allocate(1 << 22, 8), Access.remoteAll())) {
            assertThat(pair.toServer.railCount()).isEqualTo(2);
            MemorySegment from = pattern(arena.allocate(1 << 22), 1);
            MemorySegment into = arena.allocate(1 << 22);
            Pending<Received> received = pair.server.postReceive(TagFilter.exactly(1), into);
            pair.toServer.postSend(1, from).await();
            received.await();
            assertThat(into.mismatch(from)).isEqualTo(-1);
            PeerMemory there = pair.toServer.memory(shared.token());
            there.postWrite(from, 0);
            there.postWrite(MemorySegment.ofArray(new byte[] {9}), 7); // behind it
            there.postFlush().await();
            assertThat(shared.segment().get(ValueLayout.JAVA_BYTE, 7)).isEqualTo((byte) 9);
            into.fill((byte) 0);
            there.postRead(0, into).await();
            assertThat(into.mismatch(shared.segment())).isEqualTo(-1);
            assertThat(into.asSlice(8).mismatch(from.asSlice(8))).isEqualTo(-1);
            assertThat(there.postFetchAdd(8, 0).await()).isEqualTo(from.get(ValueLayout.JAVA_LONG, 8));
            assertThat(pair.toServer.remote.transfers().bytesOf(0)).isPositive();
            assertThat(pair.toServer.remote.transfers().bytesOf(1)).isPositive();
        }
    }

    /// Puts, gets and a fence while a rail is lost: what is in the memory at the end is what was put last.
    @ParameterizedTest
    @CsvSource({
        "rocev2@127.0.0.2, rocev2@127.0.0.3, 0, LEFT",
        "rocev2@127.0.0.2, rocev2@127.0.0.3, 1, DISCONNECTED",
        "rocev2@127.0.0.2, rocev2@127.0.0.3, 0, SILENT",
        "shm, rocev2@127.0.0.2, 0, LEFT"
    })
    void putsAndGetsGoOn(String first, String second, int rail, End how) throws Exception {
        try (var pair = Pair.of(first, second);
                Arena arena = Arena.ofShared();
                var shared = pair.server.share(arena.allocate(1 << 20, 8), Access.remoteAll())) {
            PeerMemory there = pair.toServer.memory(shared.token());
            MemorySegment into = arena.allocate(1 << 20);
            MemorySegment last = MemorySegment.NULL;
            var all = new ArrayList<Pending<Void>>();
            for (int i = 0; i < 300; i++) {
                int bytes = i % 50 == 49 ? 1 << 20 : i % 5 == 4 ? 5000 : 8;
                last = pattern(arena.allocate(bytes), i);
                all.add(there.postWrite(last, 0));
                if (i % 7 == 0) {
                    all.add(there.postRead(0, into));
                }
                if (i == 150) {
                    end(pair, rail, how);
                }
            }
            there.postFlush().await();
            for (Pending<Void> each : all) {
                each.await();
            }
            there.postRead(0, into).await();
            assertThat(into.asSlice(0, last.byteSize()).mismatch(last)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @CsvSource({"rocev2@127.0.0.2, rocev2@127.0.0.3", "shm, rocev2@127.0.0.2"})
    void callsAndActiveMessagesGoOn(String first, String second) throws Exception {
        try (var pair = Pair.of(first, second)) {
            pair.server.answerCalls(Call::request);
            var sum = new int[2];
            pair.server.onActive(1, message -> {
                sum[0]++;
                sum[1] += (int) message.dataBytes();
            });
            MemorySegment header = MemorySegment.ofArray(new byte[8]);
            for (int i = 0; i < 100; i++) {
                if (i == 50) {
                    end(pair, 0, End.DISCONNECTED);
                }
                byte[] request = new byte[i * 100];
                assertThat(pair.toServer.call(request, LONG)).isEqualTo(request);
                pair.toServer.postActive(1, header, MemorySegment.ofArray(new byte[i]));
            }
            assertThat(pair.server.await(() -> sum[0] == 100, LONG)).isTrue();
            assertThat(sum[1]).isEqualTo(99 * 100 / 2);
        }
    }

    @Test
    void thePeerIsLostWithItsLastRail() throws Exception {
        try (var pair = Pair.of("rocev2@127.0.0.2", "rocev2@127.0.0.3")) {
            Pending<Received> waiting = pair.toServer.postReceive(TagFilter.any(), MemorySegment.ofArray(new byte[10]));
            end(pair, 1, End.DISCONNECTED);
            pair.toServer.postSend(1, "still").await();
            end(pair, 0, End.DISCONNECTED);
            assertThatExceptionOfType(ConnectionException.class).isThrownBy(waiting::await);
            assertThat(pair.toServer.railCount()).isZero();
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> pair.toServer.postSend(1, "gone").await());
        }
    }

    @Test
    void aWorkerOfOneDeviceIsAPeerAsWell() throws Exception {
        try (Context a = Device.named("rocev2@127.0.0.2").open();
                Context b = Device.named("rocev2@127.0.0.3").open();
                Context c = Device.named("rocev2@127.0.0.4").open();
                Worker server = Worker.open(List.of(a, b), TwoWorkers.SMALL);
                Worker client = Worker.open(c, TwoWorkers.SMALL);
                WorkerListener listener = server.listen(List.of(TwoWorkers.at(a), TwoWorkers.at(b)))) {
            var accepted = TwoWorkers.accept(listener);
            RemoteWorker toServer = client.connect(listener.localAddress());
            accepted.get(60, TimeUnit.SECONDS).postSend(1, new byte[5000]);
            assertThat(toServer.postReceive(TagFilter.masked(1, 1), MemorySegment.ofArray(new byte[5000]))
                            .await()
                            .length())
                    .isEqualTo(5000);
            // By the second device alone a worker is not reached.
            RemoteWorker sentAway = client.connect(listener.localAddresses().get(1));
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> sentAway.postReceive(TagFilter.masked(1, 1), MemorySegment.ofArray(new byte[1]))
                            .await());
            assertThatIllegalArgumentException().isThrownBy(() -> client.connect(listener.localAddresses()));
            assertThatIllegalArgumentException().isThrownBy(() -> client.leave(c));
            assertThatIllegalArgumentException().isThrownBy(() -> client.leave(a));
        }
    }

    /// A stranger joins no peer, and a peer that numbers its frames wrongly is lost.
    @Test
    void aStrangerJoinsNoPeer() throws Exception {
        try (Context a = Device.named("rocev2@127.0.0.2").open();
                Context b = Device.named("rocev2@127.0.0.3").open();
                Worker server = Worker.open(List.of(a, b), TwoWorkers.SMALL);
                WorkerListener listener = server.listen(List.of(TwoWorkers.at(a), TwoWorkers.at(b)))) {
            List<InetSocketAddress> at = listener.localAddresses();
            var guess = ConnectionOptions.defaults().withPrivateData(Hello.join(1, new byte[Rails.TOKEN_BYTES]));
            try (Connection stranger = Connection.connect(at.get(1), guess)) {
                assertThatExceptionOfType(ConnectionException.class).isThrownBy(() -> stranger.receive(100));
            }
            var hello = Hello.of(TwoWorkers.SMALL, 2, false).privateData();
            try (Connection hostile = Connection.connect(
                    at.getFirst(),
                    ConnectionOptions.defaults().withReceivesAhead(2000).withPrivateData(hello))) {
                assertThat(Rails.token(MemorySegment.ofArray(hostile.receive(2000)), 20))
                        .isNotNull();
                hostile.send(new byte[24]); // frame 0 in place of 1
                assertThatExceptionOfType(ConnectionException.class).isThrownBy(() -> {
                    while (true) {
                        hostile.receive(2000); // the first credits, and then the end
                    }
                });
            }
        }
    }

    /// A peer that announces two rails and makes one is closed after a while, and keeps no room.
    @Test
    void aPeerWhoseFurtherRailStaysAwayKeepsNoRoom() throws Exception {
        WorkerOptions options = WorkerOptions.defaults()
                .withMaxPeers(1)
                .withWindow(8)
                .withFrameBytes(4096)
                .withConnectTimeout(Duration.ofSeconds(2));
        try (Context a = Device.named("rocev2@127.0.0.2").open();
                Context b = Device.named("rocev2@127.0.0.3").open();
                Context c = Device.named("rocev2@127.0.0.4").open();
                Worker server = Worker.open(List.of(a, b), options);
                Worker client = Worker.open(c, TwoWorkers.SMALL);
                WorkerListener listener = server.listen(List.of(TwoWorkers.at(a), TwoWorkers.at(b)))) {
            var hello = Hello.of(TwoWorkers.SMALL, 2, false).privateData();
            try (Connection half = Connection.connect(
                    listener.localAddress(), ConnectionOptions.defaults().withPrivateData(hello))) {
                assertThatExceptionOfType(ConnectionException.class).isThrownBy(() -> {
                    while (true) {
                        half.receive(2000);
                    }
                });
            }
            while (!server.traffic().remotes().isEmpty()) {
                Thread.onSpinWait(); // the peer sees the end before its room is free
            }
            var accepted = TwoWorkers.accept(listener);
            client.connect(listener.localAddress()).postSend(1, "on").await();
            assertThat(accepted.get(60, TimeUnit.SECONDS).isLost()).isFalse();
        }
    }

    /// What listens answers as a worker of two rails does, and never tells how to join the second.
    @Test
    void aLimitHoldsWhileAWorkerWaitsToJoinItsFurtherRails() throws Exception {
        WorkerOptions options = TwoWorkers.SMALL.withConnectTimeout(Duration.ofSeconds(1));
        try (Context a = Device.named("rocev2@127.0.0.2").open();
                Context b = Device.named("rocev2@127.0.0.3").open();
                Context c = Device.named("rocev2@127.0.0.4").open();
                Worker client = Worker.open(List.of(b, c), options);
                var listener = ConnectionListener.bind(
                        TwoWorkers.at(a),
                        ConnectionOptions.defaults()
                                .withDevice(a)
                                .withPrivateData(Hello.of(options, 2, false).privateData()))) {
            var accepted = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return listener.accept();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    Thread::startVirtualThread);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> client.connect(List.of(listener.localAddress(), listener.localAddress())))
                    .withMessageContaining("has not told");
            accepted.get(60, TimeUnit.SECONDS).close();
            assertThat(client.traffic().remotes()).isEmpty();
        }
    }

    @Test
    void severalDevicesAreNotIwarp() throws Exception {
        try (Context a = Device.named("rocev2").open();
                Context b = Device.named("iwarp").open()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Worker.open(List.of(a, b), TwoWorkers.SMALL))
                    .withMessageContaining("iWARP");
        }
    }
}
