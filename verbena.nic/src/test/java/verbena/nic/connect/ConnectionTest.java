package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.nic.link.LoopbackAddress;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpState;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.PrivateData;
import verbena.wire.roce.RoceV2;

/// The synchronous connection, between two devices on loopback.
@Timeout(180)
class ConnectionTest extends ConnectingDevices {
    ConnectionTest() {
        super("rocev2");
    }

    @Test
    void whatOneSendsTheOtherReceives() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var server = get(accepted)) {
                var out = client.allocate(100);
                var in = server.allocate(100);
                var received = meanwhile(() -> server.receive(in.slice(0, 100)).length());
                out.segment().setString(0, "hello");
                client.send(out.slice(0, 6));
                assertThat(get(received)).isEqualTo(6);
                assertThat(in.segment().getString(0)).isEqualTo("hello");
                assertThat(client.queuePair().state()).isEqualTo(QpState.RTS);
                assertThat(server.peerAddress().getAddress())
                        .isEqualTo(clientDevice.gid(1, 0).gid().address());
                assertThat(client.peerAddress()).isEqualTo(listener.localAddress());
            }
        }
    }

    @Test
    void oneReadsAndWritesTheOthersMemory() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var server = get(accepted)) {
                MemoryRegion shared = server.allocate(64, Access.remoteAll());
                var local = client.allocate(64);
                RemoteMemory remote = shared.remote();
                local.segment().setString(0, "from afar");
                client.write(local.slice(0, 10), remote.slice(8));
                assertThat(shared.segment().getString(8)).isEqualTo("from afar");
                client.read(remote.slice(8, 10), local.slice(20, 10));
                assertThat(local.segment().getString(20)).isEqualTo("from afar");
                assertThatThrownBy(() -> client.read(remote.slice(8, 60), local.slice(0, 60)))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    /// Its own memory has gone with it; the end of the connection is what there is to say.
    @Test
    void afterClosingItSaysWhyNothingCanBeReceived() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            var client = connect(listener);
            try (var server = get(accepted)) {
                var in = client.allocate(100);
                client.close();
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> client.receive(in.slice(0, 100)))
                        .matches(e -> e.reason() == Reason.CLOSED);
                assertThat(server.id().peerAddress()).isPresent();
            }
        }
    }

    @Test
    void anArrayHasNoRoomForAReadOf2Gib() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var _ = get(accepted)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> client.read(new RemoteMemory(0, 1, 1L << 31)))
                        .withMessageStartingWith("from: ");
            }
        }
    }

    /// What is still posted at the end comes back flushed. That is no error, to no observer.
    @Test
    void aGoodEndIsNoError() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            var client = connect(listener);
            try (var server = get(accepted)) {
                var waiting = server.postReceive(server.allocate(100).slice(0, 100));
                client.close();
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(waiting::await)
                        .matches(e -> e.reason() == Reason.DISCONNECTED);
            }
        }
        assertThat(serverDevice.counters().get("flushed.completions")).isEqualTo(1);
        for (Context device : List.of(serverDevice, clientDevice)) {
            assertThat(device.counters().getOrDefault("completion.errors", 0L)).isZero();
        }
    }

    @Test
    void privateDataGoBothWays() throws Exception {
        var answer = ConnectionOptions.defaults()
                .withDevice(serverDevice)
                .withPrivateData(PrivateData.ofText("and who are you"));
        try (var listener = ConnectionListener.bind(at(0), answer)) {
            var accepted = meanwhile(listener::accept);
            try (var client = Connection.connect(
                            listener.localAddress(), client().withPrivateData(PrivateData.ofText("it is me")));
                    var server = get(accepted)) {
                assertThat(server.peer().privateData().text()).isEqualTo("it is me");
                assertThat(server.peer().privateData().length()).isEqualTo(56);
                assertThat(client.peer().privateData().text()).isEqualTo("and who are you");
                assertThat(client.peer().privateData().length()).isEqualTo(196);
            }
        }
    }

    @Test
    void privateDataThatAreTooLongAreTheCallersMistake() {
        try (var listener = listen()) {
            assertThatThrownBy(() -> Connection.connect(
                            listener.localAddress(), client().withPrivateData(PrivateData.of(new byte[57]))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("private data to connect with: at most 56 bytes, got 57");
        }
    }

    @Test
    void eachConnectionHasAProtectionDomainOfItsOwn() throws Exception {
        try (var listener = listen()) {
            var first = meanwhile(listener::accept);
            try (var one = connect(listener);
                    var server = get(first)) {
                var second = meanwhile(listener::accept);
                try (var two = connect(listener);
                        var other = get(second)) {
                    assertThat(Set.of(
                                    server.queuePair().protectionDomain(),
                                    other.queuePair().protectionDomain()))
                            .hasSize(2);
                    var secret = server.allocate(64, Access.remoteAll());
                    var local = two.allocate(64);
                    assertThatExceptionOfType(ConnectionException.class)
                            .isThrownBy(() -> two.read(secret.remote().slice(0, 64), local.slice(0, 64)))
                            .matches(e -> e.reason() == Reason.FAILED)
                            .withMessageContaining("REM_ACCESS_ERR");
                    var mine = one.allocate(64);
                    one.read(secret.remote().slice(0, 64), mine.slice(0, 64)); // its own peer may
                }
            }
        }
    }

    @Test
    void nobodyListens() {
        try (var elsewhere = listen()) {
            int port = elsewhere.localAddress().getPort() == 7471 ? 7472 : 7471;
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> Connection.connect(at(port), client()))
                    .matches(e -> e.reason() == Reason.REFUSED)
                    .withMessageContaining(
                            "no program listens at " + serverDevice.gid(1, 0).gid() + " port " + port);
        }
    }

    /// A socket that never answers has an address of its own. An address that no socket has would mean 127.0.0.1.
    @Test
    void noHostAnswers() throws Exception {
        var options = client().withConnectTimeout(Duration.ofMillis(300));
        InetAddress silent = LoopbackAddress.find(RoceV2.UDP_PORT);
        try (var _ = new DatagramSocket(RoceV2.UDP_PORT, silent)) {
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> Connection.connect(new InetSocketAddress(silent, 7471), options))
                    .matches(e -> e.reason() == Reason.TIMEOUT || e.reason() == Reason.UNREACHABLE);
        }
    }

    /// Otherwise a listener with the same port at 127.0.0.1, of any program of the host, would get the connection.
    @Test
    void anAddressThatADeviceHasMeansThatDevice() throws Exception {
        try (ConnectionListener listener = listen();
                Context memory = Device.named("shm").open();
                var _ = ConnectionListener.bind(
                        new InetSocketAddress(
                                InetAddress.getLoopbackAddress(),
                                listener.localAddress().getPort()),
                        ConnectionOptions.defaults().withDevice(memory))) {
            var accepted = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var server = get(accepted)) {
                assertThat(client.peerAddress()).isEqualTo(server.localAddress());
            }
        }
    }

    @Test
    void aTimeLimitThatPassesNamesItselfAndItsLength() {
        var hasty = client().withConnectTimeout(Duration.ofMillis(50));
        try (ConnectionListener listener = listen()) { // accepts no peer
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> Connection.connect(listener.localAddress(), hasty))
                    .matches(e -> e.reason() == Reason.TIMEOUT)
                    .withMessageContaining("within 50 ms, the limit of ConnectionOptions.withConnectTimeout");
        }
    }

    @Test
    void onlyOneListensAtAPort() {
        try (var listener = listen()) {
            var same = at(listener.localAddress().getPort());
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ConnectionListener.bind(
                            same, ConnectionOptions.defaults().withDevice(serverDevice)))
                    .matches(e -> e.reason() == Reason.ADDRESS)
                    .withMessageContaining("is taken");
        }
        listen().close();
    }

    @Test
    void whoWaitsHearsThatThePeerHasLeft() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            try (var server = closing(connect(listener), accepted)) {
                var in = server.allocate(100);
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> server.receive(in.slice(0, 100)))
                        .matches(e -> e.reason() == Reason.DISCONNECTED)
                        .withMessageContaining("has disconnected");
                assertThatExceptionOfType(ConnectionException.class).isThrownBy(() -> server.send(in.slice(0, 1)));
            }
        }
    }

    private static Connection closing(Connection client, Future<Connection> accepted) throws Exception {
        Connection server = get(accepted);
        client.close();
        return server;
    }

    @Test
    void closingWakesWaitingThreads() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            var client = connect(listener);
            try (var server = get(accepted)) {
                var in = client.allocate(100);
                var received = meanwhile(() -> {
                    try {
                        client.receive(in.slice(0, 100));
                        return Optional.<Reason>empty();
                    } catch (ConnectionException e) {
                        return Optional.of(e.reason());
                    }
                });
                while (client.queuePair().query().options().maxReceiveWr() == 0) {
                    Thread.onSpinWait();
                }
                client.close();
                assertThat(get(received)).isNotEmpty();
                assertThat(server.localAddress()).isEqualTo(client.peerAddress());
            }
            client.close(); // again
        }
    }

    @Test
    void closingAListenerWakesWhoAccepts() throws Exception {
        var listener = listen();
        var accepted = meanwhile(() -> {
            try {
                listener.accept();
                return Optional.<Reason>empty();
            } catch (ConnectionException e) {
                return Optional.of(e.reason());
            }
        });
        listener.close();
        assertThat(get(accepted)).contains(Reason.CLOSED);
    }

    @Test
    void nobodyComes() throws Exception {
        try (var listener = listen()) {
            assertThat(listener.accept(Duration.ofMillis(10))).isEmpty();
        }
    }

    @Test
    void pollNeverWaitsNotEvenForAnInterrupt() throws Exception {
        var listener = listen();
        Thread.currentThread().interrupt();
        assertThat(listener.poll()).isEmpty();
        assertThat(Thread.interrupted()).as("poll left it").isTrue();
        listener.close();
        assertThatExceptionOfType(ConnectionException.class)
                .isThrownBy(listener::poll)
                .withMessage("poll: the listener is closed");
    }

    @Test
    void aHundredConnectionsAtOnce() throws Exception {
        try (var listener = listen()) {
            var servers = meanwhile(() -> {
                var all = new Connection[100];
                for (int i = 0; i < all.length; i++) {
                    all[i] = listener.accept();
                }
                return all;
            });
            var clients = new Connection[100];
            for (int i = 0; i < clients.length; i++) {
                clients[i] = connect(listener);
            }
            Connection[] accepted = get(servers);
            for (int i = 0; i < clients.length; i++) {
                var out = clients[i].allocate(8);
                var in = accepted[i].allocate(8);
                Connection to = accepted[i];
                var received = meanwhile(() -> to.receive(in.slice(0, 8)).length());
                clients[i].send(out.slice(0, 8));
                assertThat(get(received)).isEqualTo(8);
            }
            Arrays.stream(clients).forEach(Connection::close);
            Arrays.stream(accepted).forEach(Connection::close);
        }
    }

    @Test
    void aWildcardAddressIsEveryAddress() throws Exception {
        try (var listener = ConnectionListener.bind("0.0.0.0", 0)) {
            int port = listener.localAddress().getPort();
            var accepted = meanwhile(listener::accept);
            try (var client = Connection.connect("127.0.0.1", port);
                    var server = get(accepted)) {
                assertThat(server.localAddress())
                        .isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
                assertThat(client.peerAddress()).isEqualTo(server.localAddress());
            }
        }
    }

    @Test
    void anAddressThatNobodyCanListenAtIsAConnectionException() {
        for (String host : List.of("203.0.113.9", "2001:db8::9", "::g")) {
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ConnectionListener.bind(host, 0))
                    .matches(e -> e.reason() == Reason.ADDRESS)
                    .withMessageContaining(host);
        }
        assertThatExceptionOfType(ConnectionException.class)
                .isThrownBy(() -> Connection.connect("::g", 7471))
                .matches(e -> e.reason() == Reason.ADDRESS)
                .withMessageContaining("::g");
    }

    @Test
    void anArgumentThatCannotBeRightIsTheCallersMistake() {
        var unresolved = InetSocketAddress.createUnresolved("nowhere", 7471);
        assertThatThrownBy(() -> ConnectionListener.bind(unresolved, ConnectionOptions.defaults()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("address: \"nowhere\" is no known host, or was not resolved");
        assertThatThrownBy(() -> Connection.connect(unresolved, ConnectionOptions.defaults()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("destination: \"nowhere\" is no known host, or was not resolved");
        for (int port : new int[] {-1, 65_536}) {
            assertThatThrownBy(() -> ConnectionListener.bind("127.0.0.1", port))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("port: 0 to 65535, got " + port);
        }
        for (int port : new int[] {-1, 0, 65_536}) {
            assertThatThrownBy(() -> Connection.connect("127.0.0.1", port))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("port: 1 to 65535, got " + port);
        }
    }

    @Test
    void devicesAreFoundByAddress() throws Exception {
        // Without a device of its own: both ends share the one that has the address.
        String address = "127.77.12.34";
        try (var listener = ConnectionListener.bind(address, 0)) {
            var accepted = meanwhile(listener::accept);
            try (var client =
                            Connection.connect(address, listener.localAddress().getPort());
                    var server = get(accepted)) {
                var out = client.allocate(8);
                var in = server.allocate(8);
                var received = meanwhile(() -> server.receive(in.slice(0, 8)).length());
                client.send(out.slice(0, 8));
                assertThat(get(received)).isEqualTo(8);
            }
        }
    }
}
