package verbena.nic.connect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.NativeAccess;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.DeviceChoice;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.ListenerMemory;
import verbena.verbs.cm.PortSpace;

/// Which device carries a connection within this host: its memory, when both ends can.
@Timeout(180)
class NearestTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @BeforeEach
    void hasSharedMemory() {
        assumeTrue(NativeAccess.whyPortable() == null, "native access");
    }

    /// Both ends of a new connection.
    private record Pair(Connection client, Connection server) implements AutoCloseable {
        static Pair make(ConnectionListener listener, String host, ConnectionOptions options) throws Exception {
            var accepted = new CompletableFuture<Connection>();
            Thread.startVirtualThread(() -> {
                try {
                    accepted.complete(listener.accept());
                } catch (Exception e) {
                    accepted.completeExceptionally(e);
                }
            });
            var to = new InetSocketAddress(host, listener.localAddress().getPort());
            return new Pair(Connection.connect(to, options), accepted.get());
        }

        void usesDevice(String name) throws InterruptedException {
            assertThat(device(client)).isEqualTo(name);
            assertThat(device(server)).isEqualTo(name);
            assertThat(client.peerAddress()).isEqualTo(server.localAddress());
            assertThat(server.peerAddress()).isEqualTo(client.localAddress());
            talk(client, server);
            talk(server, client);
        }

        @Override
        public void close() {
            client.close();
            server.close();
        }
    }

    private static final ConnectionOptions ANY = ConnectionOptions.defaults();

    private static String device(Connection connection) {
        return connection.id().context().device().name();
    }

    private static void talk(Connection from, Connection to) throws InterruptedException {
        try (MemoryRegion out = from.allocate(64);
                MemoryRegion in = to.allocate(64)) {
            out.segment().setString(0, "near");
            var receiving = Thread.startVirtualThread(() -> {
                try {
                    assertThat(to.receive(in.slice(0, 64)).length()).isEqualTo(5);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            from.send(out.slice(0, 5));
            receiving.join();
            assertThat(in.segment().getString(0)).isEqualTo("near");
        }
    }

    private static String read(Pair by, ListenerMemory from) throws InterruptedException {
        MemoryRegion into = by.client.allocate(64);
        by.client.read(from.remote(by.server).slice(0, 64), into.slice(0, 64));
        return into.segment().getString(0);
    }

    @Test
    void nearAndFarPeersReachOneMemoryOfOneListener() throws Exception {
        try (ConnectionListener listener = ConnectionListener.bind("127.0.0.1", 0);
                ListenerMemory table = listener.allocate(4_096, Access.remoteRead());
                Context network = Device.named("rocev2@127.0.0.1").open();
                Pair near = Pair.make(listener, "127.0.0.1", ANY);
                Pair far = Pair.make(listener, "127.0.0.1", ANY.withDevice(network))) {
            assertThat(device(near.server)).isEqualTo("shm");
            assertThat(device(far.server)).isEqualTo("rocev2@127.0.0.1");
            table.segment().setString(0, "one table");
            assertThat(read(near, table)).isEqualTo("one table");
            assertThat(read(far, table)).isEqualTo("one table");
            assertThatThrownBy(() -> near.client.write("mine".getBytes(UTF_8), table.remote(near.server)))
                    .hasMessageContaining("REM_ACCESS_ERR"); // its peers may only read
            table.segment().setString(0, "another");
            assertThat(read(far, table)).isEqualTo("another");
        }
    }

    @Test
    void memoryOfAListenerOutlivesItAndEndsWithTheProgramsClose() throws Exception {
        ConnectionListener listener = ConnectionListener.bind("127.0.0.1", 0);
        Pair before = Pair.make(listener, "127.0.0.1", ANY);
        ListenerMemory first = listener.allocate(64, Access.remoteAll());
        try (before;
                ListenerMemory second = listener.allocate(64, Access.remoteAll());
                Pair pair = Pair.make(listener, "127.0.0.1", ANY)) {
            assertThatThrownBy(() -> first.remote(before.server))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("since its first allocate");
            listener.close();
            assertThatThrownBy(() -> listener.allocate(64, Access.remoteAll()))
                    .hasMessageContaining("the listener is closed");
            pair.client.write("still there".getBytes(UTF_8), first.remote(pair.server));
            assertThat(first.segment().getString(0)).isEqualTo("still there");
            RemoteMemory gone = first.remote(pair.server);
            first.close();
            first.close();
            assertThat(read(pair, second)).isEmpty();
            MemoryRegion into = pair.client.allocate(64);
            assertThatThrownBy(() -> pair.client.read(gone.slice(0, 64), into.slice(0, 64)))
                    .hasMessageContaining("REM_ACCESS_ERR");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1, shm",
        "::1, ::1, shm",
        "127.0.0.7, 127.0.0.7, shm@127.0.0.7",
        "0.0.0.0, 127.0.0.1, shm",
        "0.0.0.0, 127.0.1.1, shm",
        "::, ::1, shm"
    })
    void bothEndsOnOneHostTalkThroughItsMemory(String at, String host, String device) throws Exception {
        try (ConnectionListener listener = ConnectionListener.bind(at, 0);
                Pair pair = Pair.make(listener, host, ANY)) {
            assertThat(device(pair.server)).isEqualTo(device);
            assertThat(device(pair.client)).isEqualTo("shm");
            assertThat(pair.client.peerAddress()).isEqualTo(pair.server.localAddress());
            talk(pair.client, pair.server);
            talk(pair.server, pair.client);
        }
    }

    @Test
    void aListenerAtAllAddressesAnswersAtOneThatAnotherListenerHas() throws Exception {
        try (ConnectionListener one = ConnectionListener.bind("127.0.0.9", 0);
                ConnectionListener all = ConnectionListener.bind("0.0.0.0", 0);
                Context network = Device.named("rocev2@127.0.0.1").open()) {
            for (ConnectionOptions options : List.of(ANY, ANY.withDevice(network))) {
                for (ConnectionListener listener : List.of(one, all)) {
                    try (Pair pair = Pair.make(listener, "127.0.0.9", options)) {
                        talk(pair.client, pair.server);
                        talk(pair.server, pair.client);
                    }
                }
            }
        }
    }

    @Test
    void aListenerTakesConnectionsByBoth() throws Exception {
        try (var network = Device.named("rocev2@127.0.0.1").open();
                ConnectionListener listener = ConnectionListener.bind("127.0.0.1", 0);
                Pair far = Pair.make(listener, "127.0.0.1", ANY.withDevice(network));
                Pair near = Pair.make(listener, "127.0.0.1", ANY)) {
            far.usesDevice("rocev2@127.0.0.1");
            near.usesDevice("shm");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2@127.0.0.1", "shm"})
    void aListenerWithOneOfTheDevicesIsReachedByIt(String name) throws Exception {
        try (var device = Device.named(name).open();
                ConnectionListener listener =
                        ConnectionListener.bind(new InetSocketAddress(LOOPBACK, 0), ANY.withDevice(device));
                Pair pair = Pair.make(listener, "127.0.0.1", ANY)) {
            pair.usesDevice(name);
        }
    }

    @Test
    void aPortIsTakenWhenOneOfTheDevicesHasIt() {
        try (var memory = Device.named("shm").open();
                ConnectionListener first =
                        ConnectionListener.bind(new InetSocketAddress(LOOPBACK, 0), ANY.withDevice(memory))) {
            assertThatThrownBy(() -> ConnectionListener.bind(
                            "127.0.0.1", first.localAddress().getPort()))
                    .isInstanceOf(ConnectionException.class)
                    .hasMessageContaining("taken");
        }
    }

    @Test
    void aPortAtOneAddressIsFreeAtAnother() throws Exception {
        try (ConnectionListener one = ConnectionListener.bind("127.0.0.1", 0);
                ConnectionListener other =
                        ConnectionListener.bind("::1", one.localAddress().getPort());
                Pair pair = Pair.make(other, "::1", ANY)) {
            pair.usesDevice("shm");
        }
    }

    @Test
    void afterAListenerIsClosedNothingIsFoundThere() throws Exception {
        int port;
        try (ConnectionListener listener = ConnectionListener.bind("127.0.0.1", 0)) {
            port = listener.localAddress().getPort();
        }
        assertThatThrownBy(() -> Connection.connect("127.0.0.1", port))
                .isInstanceOfSatisfying(
                        ConnectionException.class,
                        e -> assertThat(e.reason()).isEqualTo(ConnectionException.Reason.REFUSED));
    }

    /// Programs that take the device of an address for that of all its connections go on working.
    @Test
    void anIdentifierUsesTheNetworkUnlessItsChannelSaysNearest() throws Exception {
        try (ConnectionListener listener = ConnectionListener.bind("127.0.0.1", 0);
                EventChannel plain = EventChannel.open();
                EventChannel nearest = EventChannel.open(DeviceChoice.nearest());
                ConnectionId far = plain.createId(PortSpace.TCP);
                ConnectionId near = nearest.createId(PortSpace.TCP)) {
            far.resolveAddress(listener.localAddress());
            near.resolveAddress(listener.localAddress());
            assertThat(far.context().device().name()).isEqualTo("rocev2@127.0.0.1");
            assertThat(near.context().device().name()).isEqualTo("shm");
        }
    }

    @Test
    void aBoundIdentifierIsAtBothUntilItKnowsItsPeer() throws Exception {
        try (ConnectionListener listener = ConnectionListener.bind("127.0.0.1", 0);
                EventChannel nearest = EventChannel.open(DeviceChoice.nearest());
                ConnectionId id = nearest.createId(PortSpace.TCP)) {
            id.bind(new InetSocketAddress(LOOPBACK, 0));
            assertThatThrownBy(id::context)
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessageContaining("several devices");
            Optional<InetSocketAddress> own = id.localAddress();
            id.resolveAddress(listener.localAddress());
            assertThat(id.context().device().name()).isEqualTo("shm");
            assertThat(id.localAddress()).isEqualTo(own);
        }
    }
}
