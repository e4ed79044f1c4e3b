package verbena.nic.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.GoalRun;
import verbena.nic.connect.ConnectingDevices;
import verbena.nic.link.LoopbackAddress;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.GidType;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;
import verbena.verbs.TransportType;
import verbena.verbs.UnsupportedException;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.PrivateData;

/// Two `iwarp` devices on loopback, with CRC and without, over system calls and over the JDK's channels.
@ParameterizedClass
@ValueSource(strings = {"iwarp", "iwarp,crc=off", "iwarp@::1", "iwarp,link=portable", "iwarp,link=portable,crc=off"})
@Timeout(180)
class IwarpTest extends ConnectingDevices {
    private static final int MEBIBYTE = 1 << 20;

    private final String name;

    IwarpTest(String name) {
        super(name);
        this.name = name;
    }

    /// An address of loopback that no device of RoCE has, and a listener at the same port of 127.0.0.1.
    @Test
    void aListenerAtAnotherAddressOfLoopbackIsReached() throws Exception {
        assumeTrue(at(0).getAddress() instanceof Inet4Address && LoopbackAddress.isWhole());
        try (Context other = Device.named("iwarp@127.0.0.5").open();
                var meant = ConnectionListener.bind(
                        new InetSocketAddress("127.0.0.5", 0),
                        ConnectionOptions.defaults().withDevice(other));
                var _ = ConnectionListener.bind(
                        at(meant.localAddress().getPort()),
                        ConnectionOptions.defaults().withDevice(serverDevice))) {
            var accepted = meanwhile(meant::accept);
            try (var client = connect(meant);
                    var server = get(accepted)) {
                assertThat(client.peerAddress()).isEqualTo(meant.localAddress());
                assertThat(server.localAddress()).isEqualTo(meant.localAddress());
            }
        }
    }

    @Test
    void anotherAddressOfLoopbackMeansTheUsualOneWhenNoProgramListensThere() throws Exception {
        assumeTrue(at(0).getAddress() instanceof Inet4Address);
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            try (var client = Connection.connect(
                            new InetSocketAddress(
                                    "127.0.0.5", listener.localAddress().getPort()),
                            client());
                    var _ = get(accepted)) {
                assertThat(client.peerAddress()).isEqualTo(listener.localAddress());
            }
        }
    }

    /// RFC 5044 7.1.2: a responder that begins does so after a while.
    @Test
    void whatOneSendsTheOtherReceivesWhoeverBegins() throws Exception {
        try (var listener = listen()) {
            for (boolean serverBegins : new boolean[] {false, true}) {
                var accepted = meanwhile(listener::accept);
                try (var client = connect(listener);
                        var server = get(accepted)) {
                    var from = serverBegins ? server : client;
                    var to = serverBegins ? client : server;
                    var out = from.allocate(100);
                    var in = to.allocate(100);
                    var received = meanwhile(() -> to.receive(in.slice(0, 100)).length());
                    out.segment().setString(0, "hello");
                    from.send(out.slice(0, 6));
                    assertThat(get(received)).isEqualTo(6);
                    assertThat(in.segment().getString(0)).isEqualTo("hello");
                    assertThat(client.queuePair().state()).isEqualTo(QpState.RTS);
                    assertThat(client.peerAddress()).isEqualTo(listener.localAddress());
                    assertThat(server.peerAddress().getAddress()).isEqualTo(at(0).getAddress());
                }
            }
        }
    }

    @Test
    void oneReadsAndWritesTheOthersMemory() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var server = get(accepted)) {
                var shared = server.allocate(3 * MEBIBYTE, Access.remoteAll());
                var local = client.allocate(3 * MEBIBYTE);
                for (int i = 0; i < MEBIBYTE; i++) {
                    local.segment().set(ValueLayout.JAVA_BYTE, i, (byte) ((i * 31) >> 3));
                }
                client.write(local.slice(0, MEBIBYTE), shared.remote().slice(1_001));
                // A READ is answered after what was written before it has been placed (RFC 5040, 5.5).
                client.read(shared.remote().slice(1_001, MEBIBYTE), local.slice(2 * MEBIBYTE, MEBIBYTE));
                assertThat(local.segment()
                                .asSlice(2 * MEBIBYTE, MEBIBYTE)
                                .mismatch(local.segment().asSlice(0, MEBIBYTE)))
                        .isEqualTo(-1);
                assertThat(shared.segment()
                                .asSlice(1_001, MEBIBYTE)
                                .mismatch(local.segment().asSlice(0, MEBIBYTE)))
                        .isEqualTo(-1);
                assertThat(shared.segment().get(ValueLayout.JAVA_BYTE, 1_000)).isZero();
            }
        }
    }

    @Test
    void privateDataGoBothWaysAsLongAsTheyAre() throws Exception {
        var answer = ConnectionOptions.defaults()
                .withDevice(serverDevice)
                .withPrivateData(PrivateData.ofText("and who are you"));
        try (var listener = ConnectionListener.bind(at(0), answer)) {
            var accepted = meanwhile(listener::accept);
            try (var client = Connection.connect(
                            listener.localAddress(), client().withPrivateData(PrivateData.ofText("it is me")));
                    var server = get(accepted)) {
                assertThat(server.peer().privateData()).isEqualTo(PrivateData.ofText("it is me"));
                assertThat(client.peer().privateData()).isEqualTo(PrivateData.ofText("and who are you"));
                assertThat(client.peer().responderResources()).isEqualTo(16);
            }
            assertThatThrownBy(() -> Connection.connect(
                            listener.localAddress(), client().withPrivateData(PrivateData.of(new byte[509]))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("private data to connect with: at most 508 bytes, got 509");
        }
    }

    @Test
    void whereNobodyListensItIsRefused() {
        int free;
        try (var listener = listen()) {
            free = listener.localAddress().getPort();
        }
        assertThatExceptionOfType(ConnectionException.class)
                .isThrownBy(() -> Connection.connect(at(free), client()))
                .withMessageContaining("no program listens")
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED));
    }

    @Test
    void aPortIsTakenOnce() {
        try (var listener = listen()) {
            int port = listener.localAddress().getPort();
            for (Context device : new Context[] {serverDevice, clientDevice}) {
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> ConnectionListener.bind(
                                        at(port), ConnectionOptions.defaults().withDevice(device))
                                .close())
                        .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.ADDRESS))
                        .withMessageContaining("" + port);
            }
        }
    }

    @Test
    void whoDisconnectsIsNoticed() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            var client = connect(listener);
            try (var server = get(accepted)) {
                var in = server.allocate(10);
                var received = meanwhile(() -> server.receive(in.slice(0, 10)).length());
                client.close();
                assertThatThrownBy(() -> get(received))
                        .cause()
                        .isInstanceOfSatisfying(
                                ConnectionException.class,
                                e -> assertThat(e.reason()).isEqualTo(Reason.DISCONNECTED))
                        .hasMessageContaining("closed the connection");
                assertThat(server.queuePair().state()).isEqualTo(QpState.ERR);
            }
        }
    }

    @Test
    void whatIsRefusedEndsTheConnectionAndSaysWhy() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var server = get(accepted)) {
                var readable = server.allocate(100, java.util.Set.of(Access.REMOTE_READ));
                var local = client.allocate(100);
                client.write(local.slice(0, 10), readable.remote());
                assertThatThrownBy(() -> client.read(readable.remote().slice(0, 10), local.slice(0, 10)))
                        .isInstanceOf(VerbsException.class);
                assertThat(client.queuePair().state()).isEqualTo(QpState.ERR);
            }
        }
    }

    @Test
    void aRegionWithdrawnWhileItIsWrittenToEndsThatConnectionAlone() throws Exception {
        try (var arena = Arena.ofShared();
                var listener = listen()) {
            var acceptedOne = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var server = get(acceptedOne)) {
                var acceptedOther = meanwhile(listener::accept);
                try (var otherClient = connect(listener);
                        var otherServer = get(acceptedOther)) {
                    MemorySegment memory = arena.allocate(MEBIBYTE);
                    MemoryRegion withdrawn =
                            server.queuePair().protectionDomain().register(memory, Access.remoteAll());
                    RemoteMemory target = withdrawn.remote();
                    MemoryRegion local = client.allocate(MEBIBYTE);
                    var written = new CountDownLatch(1);
                    Future<Integer> writing = meanwhile(() -> {
                        for (int i = 1; ; i++) {
                            local.segment().fill((byte) i);
                            try {
                                client.write(local.slice(0, MEBIBYTE), target);
                            } catch (VerbsException e) {
                                return i;
                            }
                            written.countDown();
                        }
                    });
                    assertThat(written.await(30, TimeUnit.SECONDS)).isTrue();
                    withdrawn.close();
                    MemorySegment then = arena.allocate(MEBIBYTE).copyFrom(memory);

                    assertThat(get(writing)).isGreaterThan(1);
                    assertThat(memory.mismatch(then))
                            .as("changed after it was withdrawn")
                            .isEqualTo(-1);
                    var shared = otherServer.allocate(100, Access.remoteAll());
                    otherClient.write(otherClient.allocate(100).slice(0, 100), shared.remote());
                    assertThat(otherClient.queuePair().state()).isEqualTo(QpState.RTS);
                }
            }
        }
    }

    @Test
    void aRegionWithdrawnWhileItIsReadIntoIsLeftAlone() throws Exception {
        try (var arena = Arena.ofShared();
                var listener = listen()) {
            for (int i = 0; i < 10; i++) {
                var accepted = meanwhile(listener::accept);
                try (var client = connect(listener);
                        var server = get(accepted)) {
                    var source = server.allocate(4 * MEBIBYTE, Access.remoteAll());
                    source.segment().fill((byte) 7);
                    MemorySegment memory = arena.allocate(4 * MEBIBYTE);
                    MemoryRegion into = client.queuePair().protectionDomain().register(memory, Access.local());
                    client.queuePair()
                            .postRead(
                                    i,
                                    new RemoteMemory(source.address(), source.rkey(), 4 * MEBIBYTE),
                                    into.slice(0, 4 * MEBIBYTE));
                    into.close();
                    MemorySegment then = arena.allocate(4 * MEBIBYTE).copyFrom(memory);

                    var wc = new WorkCompletion();
                    assertThat(client.queuePair().options().sendCq().await(wc, Duration.ofSeconds(30)))
                            .isTrue();
                    assertThat(wc.wrId()).isEqualTo(i);
                    assertThat(wc.ok()).isEqualTo(then.get(ValueLayout.JAVA_BYTE, 4 * MEBIBYTE - 1) == 7);
                    assertThat(memory.mismatch(then))
                            .as("changed after it was withdrawn")
                            .isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void whoHasNoReceivePostedMakesTheSenderWait() throws Exception {
        try (var listener = listen()) {
            var accepted = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var server = get(accepted)) {
                var out = client.allocate(100_000);
                var in = server.allocate(100_000);
                for (int i = 0; i < 20; i++) {
                    out.segment().set(ValueLayout.JAVA_LONG, 0, i);
                    client.send(out.slice(0, 100_000));
                }
                for (int i = 0; i < 20; i++) {
                    assertThat(server.receive(in.slice(0, 100_000)).length()).isEqualTo(100_000);
                    assertThat(in.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void manyConnectionsAtOnce() throws Exception {
        try (var listener = listen()) {
            var ends = new ArrayList<Connection>();
            try {
                for (int i = 0; i < 40; i++) {
                    var accepted = meanwhile(listener::accept);
                    ends.add(connect(listener));
                    ends.add(get(accepted));
                }
                for (int i = 0; i < ends.size(); i += 2) {
                    var to = ends.get(i + 1);
                    var out = ends.get(i).allocate(8);
                    var in = to.allocate(8);
                    out.segment().set(ValueLayout.JAVA_LONG, 0, i);
                    var received = meanwhile(() -> to.receive(in.slice(0, 8)).length());
                    ends.get(i).send(out.slice(0, 8));
                    assertThat(get(received)).isEqualTo(8);
                    assertThat(in.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
                }
            } finally {
                ends.forEach(Connection::close);
            }
        }
    }

    @Test
    void whoSpeaksNoMpaIsClosedAndOthersAreServed() throws Exception {
        try (var listener = listen();
                var garbage =
                        new Socket(at(0).getAddress(), listener.localAddress().getPort());
                var silent =
                        new Socket(at(0).getAddress(), listener.localAddress().getPort());
                var greedy =
                        new Socket(at(0).getAddress(), listener.localAddress().getPort())) {
            garbage.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            byte[] request = new byte[20 + 4 + 100];
            System.arraycopy("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII), 0, request, 0, 16);
            request[17] = 1;
            greedy.getOutputStream().write(request); // and more than the request
            for (Socket each : new Socket[] {garbage, greedy}) {
                each.setSoTimeout(20_000);
                assertThat(end(each.getInputStream())).isTrue();
            }
            var accepted = meanwhile(listener::accept);
            try (var client = connect(listener);
                    var server = get(accepted)) {
                assertThat(server.queuePair().state()).isEqualTo(QpState.RTS);
                assertThat(client.queuePair().state()).isEqualTo(QpState.RTS);
            }
            assertThat(silent.isConnected()).isTrue();
        }
    }

    /// Returns when the engine has ended the piece of work that it is doing.
    private static void awaitPieceOfWork(Context device) {
        try (var domain = device.allocateProtectionDomain();
                var queue = device.createCompletionQueue(1);
                var queuePair = domain.createQueuePair(QueuePairOptions.rc(queue))) {
            assertThat(queuePair.query().state()).isEqualTo(QpState.RESET);
        }
    }

    private static boolean end(InputStream in) {
        try {
            return in.read() < 0;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /// Waits for the end of the time for a request, 5 s. So by default each link has its turn, and not each device.
    @Test
    void whoConnectsAndSaysNothingHoldsNothing() throws Exception {
        assumeTrue(GoalRun.DEEP || name.equals("iwarp") || name.equals("iwarp,link=portable"), "deep: 5 s each");
        int limit = 128; // of one peer
        try (var listener = listen()) {
            var silent = new ArrayList<Socket>();
            try {
                for (int i = 0; i < limit + 10; i++) {
                    silent.add(new Socket(
                            at(0).getAddress(), listener.localAddress().getPort()));
                }
                for (int i = 0; i < 10; i++) {
                    silent.get(i).setSoTimeout(20_000);
                    assertThat(end(silent.get(i).getInputStream()))
                            .as("the oldest have to go")
                            .isTrue();
                }
                awaitPieceOfWork(serverDevice); // the peer hears of the end before the socket is counted out
                assertThat(serverDevice.counters().get("tcp.open")).isLessThanOrEqualTo((long) limit);
                var accepted = meanwhile(listener::accept);
                try (var client = connect(listener);
                        var server = get(accepted)) {
                    assertThat(server.peerAddress().getPort()).isPositive();
                    assertThat(client.queuePair().state()).isEqualTo(QpState.RTS);
                }
            } finally {
                for (Socket each : silent) {
                    each.close();
                }
            }
        }
    }

    @Test
    void whoDoesNotAnswerIsUnreachableInTheTimeGiven() throws Exception {
        try (var deaf = new java.net.ServerSocket(0, 1, at(0).getAddress())) {
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> Connection.connect(
                            at(deaf.getLocalPort()), client().withConnectTimeout(Duration.ofMillis(200))))
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.TIMEOUT));
        }
    }

    @Test
    void whatIwarpLacksIsSaidAndRefused() {
        assertThat(clientDevice.device().transportType()).isEqualTo(TransportType.IWARP);
        assertThat(clientDevice.gid(1, 0).type()).isEqualTo(GidType.IWARP);
        var attributes = clientDevice.attributes();
        assertThat(attributes.capabilities())
                .contains(Capability.RC, Capability.RDMA_READ, Capability.CONNECTION_MANAGER)
                .doesNotContain(
                        Capability.UC,
                        Capability.UD,
                        Capability.MULTICAST,
                        Capability.FLUSH,
                        Capability.ATOMIC_WRITE,
                        Capability.SEND_WITH_IMMEDIATE,
                        Capability.ENDPOINTS);
        assertThat(attributes.datagrams().maxAh()).isZero();
        assertThat(attributes.datagrams().maxMulticastGroups()).isZero();
        try (var domain = clientDevice.allocateProtectionDomain();
                var cq = clientDevice.createCompletionQueue(10)) {
            for (QpType type : new QpType[] {QpType.UC, QpType.UD}) {
                assertThatExceptionOfType(UnsupportedException.class)
                        .isThrownBy(() -> domain.createQueuePair(QueuePairOptions.of(type, cq)))
                        .withMessageContaining("does not support " + type);
            }
            try (var qp = domain.createQueuePair(QueuePairOptions.of(QpType.RC, cq))) {
                assertThatExceptionOfType(UnsupportedException.class)
                        .isThrownBy(() -> qp.endpoint(0))
                        .satisfies(e -> assertThat(e.capability()).isEqualTo(Capability.ENDPOINTS));
                qp.modify(new Transition.ToInit(Access.remoteAll()));
                assertThatExceptionOfType(UnsupportedException.class)
                        .isThrownBy(() -> qp.attachMulticast(verbena.verbs.Gid.parse("224.1.2.3")))
                        .satisfies(e -> assertThat(e.capability()).isEqualTo(Capability.MULTICAST));
            }
        }
    }
}
