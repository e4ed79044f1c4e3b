package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.DeviceChoice;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// Identifiers and events, step by step, between two devices on loopback.
@Timeout(180)
class ConnectionIdTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();

    /// One side: a device with a domain, a queue and a channel, and the identifiers made on it.
    private static final class Endpoint {
        final Context device;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final EventChannel channel;
        final List<ConnectionId> ids = new ArrayList<>();

        Endpoint(String name) {
            device = Device.named(name).open();
            domain = device.allocateProtectionDomain();
            completions = device.createCompletionQueue(64);
            channel = EventChannel.open(device);
        }

        ConnectionId id(PortSpace space) {
            ConnectionId id = channel.createId(space);
            ids.add(id);
            return id;
        }

        InetSocketAddress at(int port) {
            return new InetSocketAddress(device.gid(1, 0).gid().address(), port);
        }

        ConnectionId listening(PortSpace space) {
            ConnectionId id = id(space);
            id.bind(at(0));
            id.listen(4);
            return id;
        }

        /// Up to where the peer can be asked.
        ConnectionId resolved(ConnectionId listener) throws InterruptedException {
            ConnectionId id = id(listener.space());
            id.resolveAddress(listener.localAddress().orElseThrow());
            next(ConnectionEvent.AddressResolved.class);
            id.resolveRoute();
            next(ConnectionEvent.RouteResolved.class);
            return id;
        }

        <E extends ConnectionEvent> E next(Class<E> kind) throws InterruptedException {
            var event = channel.await(LONG);
            assertThat(event).as("an event").isPresent();
            assertThat(event.get()).isInstanceOf(kind);
            if (event.get() instanceof ConnectionEvent.ConnectRequest request) {
                ids.add(request.id());
            }
            return kind.cast(event.get());
        }

        QueuePairOptions options(PortSpace space) {
            return QueuePairOptions.of(space.isDatagram() ? QpType.UD : QpType.RC, completions);
        }

        WcStatus completion() throws InterruptedException {
            var done = new WorkCompletion();
            assertThat(completions.await(done, LONG)).isTrue();
            return done.status();
        }

        void close() {
            ids.forEach(ConnectionId::close);
            channel.close();
            completions.close();
            domain.close();
            device.close(); // nothing was left behind
        }
    }

    private final Endpoint client = new Endpoint("rocev2");
    private final Endpoint server = new Endpoint("rocev2");

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private record Pair(ConnectionId client, ConnectionId server) {}

    private Pair connected() throws InterruptedException {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId active = client.resolved(listener);
        active.createQueuePair(client.domain, client.options(PortSpace.TCP));
        active.connect(DEFAULTS);
        ConnectionId passive = server.next(ConnectionEvent.ConnectRequest.class).id();
        passive.createQueuePair(server.domain, server.options(PortSpace.TCP));
        passive.accept(DEFAULTS);
        client.next(ConnectionEvent.Established.class);
        server.next(ConnectionEvent.Established.class);
        return new Pair(active, passive);
    }

    @Test
    void fromResolvingToDisconnecting() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId active = client.id(PortSpace.TCP);
        assertThat(active.state()).isEqualTo(ConnectionId.State.IDLE);
        active.resolveAddress(listener.localAddress().orElseThrow());
        assertThat(client.next(ConnectionEvent.AddressResolved.class).id()).isSameAs(active);
        assertThat(active.context()).isSameAs(client.device);
        active.resolveRoute();
        client.next(ConnectionEvent.RouteResolved.class);

        var own = active.createQueuePair(client.domain, client.options(PortSpace.TCP));
        assertThat(own.state()).isEqualTo(QpState.INIT);
        active.connect(DEFAULTS.withPrivateData(PrivateData.ofText("hello")).withReads(3, 5));
        var request = server.next(ConnectionEvent.ConnectRequest.class);
        assertThat(request.listener()).isSameAs(listener);
        assertThat(request.peer().privateData().text()).isEqualTo("hello");
        assertThat(request.peer().responderResources()).isEqualTo(3);
        assertThat(request.peer().initiatorDepth()).isEqualTo(5);
        assertThat(request.peer().qpn()).isEqualTo(own.qpn());
        ConnectionId passive = request.id();
        assertThat(passive.peerAddress().orElseThrow().getAddress())
                .isEqualTo(client.at(0).getAddress());

        var other = passive.createQueuePair(server.domain, server.options(PortSpace.TCP));
        passive.accept(DEFAULTS.withReads(4, 4));
        assertThat(other.state()).isEqualTo(QpState.RTS);
        var established = client.next(ConnectionEvent.Established.class);
        assertThat(own.state()).isEqualTo(QpState.RTS);
        assertThat(established.peer().qpn()).isEqualTo(other.qpn());
        assertThat(established.peer().responderResources()).isEqualTo(4);
        assertThat(established.peer().initiatorDepth()).isEqualTo(3); // what the client serves
        assertThat(own.query().sending().maxReadAtomic()).isEqualTo(4);
        assertThat(other.query().sending().maxReadAtomic()).isEqualTo(3);
        assertThat(server.next(ConnectionEvent.Established.class).id()).isSameAs(passive);

        var in = server.domain.allocate(64, Access.local());
        other.postReceive(1, in.slice(0, 64));
        active.disconnect();
        assertThat(own.state()).isEqualTo(QpState.ERR);
        assertThat(client.next(ConnectionEvent.Disconnected.class).by()).isEqualTo(EndedBy.THIS_SIDE);
        assertThat(server.next(ConnectionEvent.Disconnected.class).by()).isEqualTo(EndedBy.PEER);
        assertThat(server.completion()).isEqualTo(WcStatus.WR_FLUSH_ERR);
        assertThat(other.state()).isEqualTo(QpState.ERR);
        in.close();
    }

    /// rdma_resolve_addr(3): it binds an identifier that is not bound.
    @Test
    void anIdentifierThatResolvesAnAddressHasAPortOfItsOwn() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        var taken = new HashSet<InetSocketAddress>();
        taken.add(listener.localAddress().orElseThrow());
        for (int i = 0; i < 50; i++) { // each device may have an address of its own
            for (Endpoint end : List.of(client, server)) {
                InetSocketAddress own = end.resolved(listener).localAddress().orElseThrow();
                assertThat(own.getAddress()).isEqualTo(end.at(0).getAddress());
                assertThat(own.getPort()).isNotZero();
                assertThat(taken.add(own)).as("another than the others have").isTrue();
            }
        }
    }

    @Test
    void aPortOfAnIdentifierThatAsksIsTakenUntilItEnds() throws Exception {
        ConnectionId active = client.resolved(server.listening(PortSpace.TCP));
        int port = active.localAddress().orElseThrow().getPort();
        ConnectionId second = client.id(PortSpace.TCP);
        assertThatThrownBy(() -> second.bind(client.at(port)))
                .isInstanceOf(ConnectionException.class)
                .hasMessageContaining("is taken");
        active.close();
        second.bind(client.at(port));
        assertThat(second.localAddress()).contains(client.at(port));
    }

    @Test
    void aPortOfTheProgramsChoiceStays() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId before = client.id(PortSpace.TCP);
        before.bind(client.at(0));
        InetSocketAddress free = before.localAddress().orElseThrow();
        before.close();
        ConnectionId active = client.id(PortSpace.TCP);
        active.resolveAddress(free, listener.localAddress().orElseThrow());
        client.next(ConnectionEvent.AddressResolved.class);
        assertThat(active.localAddress()).contains(free);
    }

    @Test
    void aRejectedRequestSaysWhy() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId active = client.resolved(listener);
        active.createQueuePair(client.domain, client.options(PortSpace.TCP));
        active.connect(DEFAULTS);
        server.next(ConnectionEvent.ConnectRequest.class).id().reject(PrivateData.ofText("not you"));
        var rejected = client.next(ConnectionEvent.Rejected.class);
        assertThat(rejected.reason()).isEqualTo(ConnectionEvent.Rejected.CONSUMER_DEFINED);
        assertThat(rejected.privateData().text()).isEqualTo("not you");
        assertThat(rejected.why()).contains("the application at").contains("refuses");
    }

    /// Bytes that fit into each message, and one more.
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 55, 56})
    void privateDataOfEverySizeToConnectWith(int bytes) throws Exception {
        PrivateData said = numbered(bytes);
        ConnectionId active = client.resolved(server.listening(PortSpace.TCP));
        active.createQueuePair(client.domain, client.options(PortSpace.TCP));
        assertThatThrownBy(() -> active.connect(DEFAULTS.withPrivateData(numbered(57))))
                .hasMessage("private data to connect with: at most 56 bytes, got 57");
        active.connect(DEFAULTS.withPrivateData(said));
        var request = server.next(ConnectionEvent.ConnectRequest.class);
        assertThat(request.peer().privateData()).isEqualTo(padded(said, 56));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 195, 196})
    void privateDataOfEverySizeToAcceptWith(int bytes) throws Exception {
        PrivateData said = numbered(bytes);
        ConnectionId active = client.resolved(server.listening(PortSpace.TCP));
        active.createQueuePair(client.domain, client.options(PortSpace.TCP));
        active.connect(DEFAULTS);
        ConnectionId passive = server.next(ConnectionEvent.ConnectRequest.class).id();
        assertThatThrownBy(() -> passive.reject(numbered(149)))
                .hasMessage("private data to reject with: at most 148 bytes, got 149");
        passive.createQueuePair(server.domain, server.options(PortSpace.TCP));
        assertThatThrownBy(() -> passive.accept(DEFAULTS.withPrivateData(numbered(197))))
                .hasMessage("private data to accept with: at most 196 bytes, got 197");
        passive.accept(DEFAULTS.withPrivateData(said));
        assertThat(client.next(ConnectionEvent.Established.class).peer().privateData())
                .isEqualTo(padded(said, 196));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 147, 148})
    void privateDataOfEverySizeToRejectWith(int bytes) throws Exception {
        PrivateData said = numbered(bytes);
        ConnectionId active = client.resolved(server.listening(PortSpace.TCP));
        active.createQueuePair(client.domain, client.options(PortSpace.TCP));
        active.connect(DEFAULTS);
        server.next(ConnectionEvent.ConnectRequest.class).id().reject(said);
        assertThat(client.next(ConnectionEvent.Rejected.class).privateData()).isEqualTo(padded(said, 148));
    }

    private static PrivateData numbered(int length) {
        var bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return PrivateData.of(bytes);
    }

    /// As it arrives.
    private static PrivateData padded(PrivateData said, int room) {
        return PrivateData.of(Arrays.copyOf(said.bytes(), room));
    }

    @Test
    void closingAListenerRefusesWhoWaits() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId active = client.resolved(listener);
        active.createQueuePair(client.domain, client.options(PortSpace.TCP));
        active.connect(DEFAULTS);
        while (server.device.counters().get("cm.received") == 0) {
            Thread.onSpinWait();
        }
        listener.close();
        client.next(ConnectionEvent.Rejected.class);
    }

    @Test
    void aQueuePairOfTheProgramsOwn() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId active = client.resolved(listener);
        var own = client.domain.createQueuePair(client.options(PortSpace.TCP));
        var other = server.domain.createQueuePair(server.options(PortSpace.TCP));
        own.modify(new Transition.ToInit(Access.remoteAll()));
        active.describeQueuePair(QpType.RC, own.qpn());
        active.connect(DEFAULTS);
        ConnectionId passive = server.next(ConnectionEvent.ConnectRequest.class).id();
        other.modify(new Transition.ToInit(Access.remoteAll()));
        passive.describeQueuePair(QpType.RC, other.qpn());
        other.modify(passive.modification(QpState.RTR, DEFAULTS));
        other.modify(passive.modification(QpState.RTS, DEFAULTS));
        passive.accept(DEFAULTS);
        assertThat(client.next(ConnectionEvent.ConnectResponse.class).peer().qpn())
                .isEqualTo(other.qpn());
        own.modify(active.modification(QpState.RTR, DEFAULTS));
        own.modify(active.modification(QpState.RTS, DEFAULTS));
        active.establish();
        server.next(ConnectionEvent.Established.class);
        var memory = client.domain.allocate(64, Access.remoteAll());
        var target = server.domain.allocate(64, Access.remoteAll());
        own.postWrite(1, memory.slice(0, 64), target.remote());
        assertThat(client.completion()).isEqualTo(WcStatus.SUCCESS);
        own.close();
        other.close();
        memory.close();
        target.close();
    }

    @Test
    void aQueuePairOfTheProgramsOwnIsMovedWhenItIsGiven() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId active = client.resolved(listener);
        var own = client.domain.createQueuePair(client.options(PortSpace.TCP));
        var other = server.domain.createQueuePair(server.options(PortSpace.TCP));
        own.modify(new Transition.ToInit(Access.remoteAll()));
        active.useQueuePair(own);
        active.connect(DEFAULTS);
        ConnectionId passive = server.next(ConnectionEvent.ConnectRequest.class).id();
        other.modify(new Transition.ToInit(Access.remoteAll()));
        passive.useQueuePair(other);
        assertThatThrownBy(() -> passive.useQueuePair(own))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageContaining("has one already");
        passive.accept(DEFAULTS);
        client.next(ConnectionEvent.Established.class);
        server.next(ConnectionEvent.Established.class);
        assertThat(own.state()).isEqualTo(QpState.RTS);
        assertThat(other.state()).isEqualTo(QpState.RTS);
        passive.close();
        assertThat(other.isClosed()).isFalse();
        other.close();
        own.close();
    }

    @Test
    void aQueuePairIsTheProgramsToCloseOnceItIsGivenToAnIdentifier() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId first = client.resolved(listener);
        var made = first.createQueuePair(client.domain, client.options(PortSpace.TCP));
        first.useQueuePair(made);
        first.close();
        assertThat(made.isClosed()).isFalse();

        ConnectionId second = client.resolved(listener);
        second.useQueuePair(made);
        second.connect(DEFAULTS);
        ConnectionId passive = server.next(ConnectionEvent.ConnectRequest.class).id();
        passive.createQueuePair(server.domain, server.options(PortSpace.TCP));
        passive.accept(DEFAULTS);
        client.next(ConnectionEvent.Established.class);
        assertThat(made.state()).isEqualTo(QpState.RTS);
        second.close();
        made.close();
    }

    @Test
    void aFamilyWithoutAddressesIsBoundAlone() {
        ConnectionId id = server.id(PortSpace.TCP); // its device has an IPv4 address only
        id.bindOneFamily(new InetSocketAddress("::", 0));
        assertThat(id.localAddress().orElseThrow().getPort()).isNotZero();
        id.listen(1);
        ConnectionId both = server.id(PortSpace.TCP);
        both.bind(new InetSocketAddress("::", 0));
        assertThat(both.state()).isEqualTo(ConnectionId.State.BOUND);
    }

    @Test
    void aChannelMayNameTheDeviceForAnAddress() {
        Gid named = server.device.gid(1, 0).gid();
        try (var channel = EventChannel.open(DeviceChoice.byAddress()
                .withDevices(local -> local.equals(named) ? Optional.of(server.device) : Optional.empty()))) {
            try (ConnectionId id = channel.createId(PortSpace.TCP)) {
                id.bind(server.at(0));
                assertThat(id.context()).isSameAs(server.device);
            }
            try (ConnectionId id = channel.createId(PortSpace.TCP)) {
                // named by nothing: whatever device has it
                id.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                assertThat(id.context()).isNotSameAs(server.device);
            }
        }
    }

    @Test
    void unreliableConnectionsToo() throws Exception {
        ConnectionId listener = server.listening(PortSpace.TCP);
        ConnectionId active = client.resolved(listener);
        var own = active.createQueuePair(client.domain, QueuePairOptions.uc(client.completions));
        active.connect(DEFAULTS);
        ConnectionId passive = server.next(ConnectionEvent.ConnectRequest.class).id();
        var other = passive.createQueuePair(server.domain, QueuePairOptions.uc(server.completions));
        var in = server.domain.allocate(64, Access.local());
        other.postReceive(1, in.slice(0, 64));
        passive.accept(DEFAULTS);
        client.next(ConnectionEvent.Established.class);
        var out = client.domain.allocate(64, Access.local());
        own.postSend(1, out.slice(0, 64));
        assertThat(server.completion()).isEqualTo(WcStatus.SUCCESS);
        in.close();
        out.close();
    }

    @Test
    void aQueuePairThatFailsEndsItsConnection() throws Exception {
        Pair pair = connected();
        var memory = client.domain.allocate(64, Access.local());
        // A key that the server does not have.
        pair.client().queuePair().orElseThrow().postRead(7, new RemoteMemory(0x1000, 0xDEAD, 64), memory.slice(0, 64));
        assertThat(client.completion()).isEqualTo(WcStatus.REM_ACCESS_ERR);
        assertThat(client.next(ConnectionEvent.Disconnected.class).by()).isEqualTo(EndedBy.FAILURE);
        var end = server.next(ConnectionEvent.Disconnected.class);
        assertThat(end.by()).isIn(EndedBy.FAILURE, EndedBy.PEER);
        memory.close();
    }

    @Test
    void disconnectingAgainChangesNothing() throws Exception {
        Pair pair = connected();
        pair.client().disconnect();
        client.next(ConnectionEvent.Disconnected.class);
        pair.client().disconnect();
        onlyTimewaitMayEnd(client);
        server.next(ConnectionEvent.Disconnected.class);
        pair.server().disconnect();
        onlyTimewaitMayEnd(server);
    }

    /// Which it does half a second after the end, so on a slow host it may have.
    private static void onlyTimewaitMayEnd(Endpoint endpoint) throws InterruptedException {
        endpoint.channel.poll().ifPresent(event -> assertThat(event).isInstanceOf(ConnectionEvent.TimewaitExit.class));
        assertThat(endpoint.channel.poll()).isEmpty();
    }

    @Test
    void theSmallerMtuIsTaken() throws Exception {
        var small = new Endpoint("rocev2,mtu=1024");
        ConnectionId listener = small.listening(PortSpace.TCP);
        ConnectionId active = client.resolved(listener);
        var own = active.createQueuePair(client.domain, client.options(PortSpace.TCP));
        active.connect(DEFAULTS);
        ConnectionId passive = small.next(ConnectionEvent.ConnectRequest.class).id();
        var other = passive.createQueuePair(small.domain, small.options(PortSpace.TCP));
        passive.accept(DEFAULTS);
        client.next(ConnectionEvent.Established.class);
        assertThat(own.query().peer().pathMtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(other.query().peer().pathMtu()).isEqualTo(Mtu.MTU_1024);
        small.close();
    }

    @Test
    void datagramsFindTheirReceiver() throws Exception {
        ConnectionId listener = server.listening(PortSpace.UDP);
        ConnectionId active = client.resolved(listener);
        var own = active.createQueuePair(client.domain, client.options(PortSpace.UDP));
        assertThat(own.state()).isEqualTo(QpState.RTS);
        active.connect(DEFAULTS.withPrivateData(PrivateData.ofText("where to?")));
        var request = server.next(ConnectionEvent.ConnectRequest.class);
        assertThat(request.peer().privateData().text()).isEqualTo("where to?");
        assertThat(request.peer().privateData().length()).isEqualTo(180);
        var other = request.id().createQueuePair(server.domain, server.options(PortSpace.UDP));
        var in = server.domain.allocate(104, Access.local());
        other.postReceive(1, in.slice(0, 104));
        request.id().accept(DEFAULTS.withPrivateData(PrivateData.ofText("here")));
        var found = client.next(ConnectionEvent.DatagramEstablished.class);
        assertThat(found.peer().privateData().text()).isEqualTo("here");
        assertThat(found.peer().qpn()).isEqualTo(other.qpn());
        assertThat(found.peer().qkey()).isEqualTo(ConnectionId.UDP_QKEY);

        AddressHandle way = client.domain.createAddressHandle(found.path());
        var out = client.domain.allocate(64, Access.local());
        try (var batch = own.sendBatch()) {
            batch.send(1)
                    .to(way, found.peer().qpn(), found.peer().qkey())
                    .sge(out, 0, 64)
                    .signaled()
                    .submit();
        }
        assertThat(server.completion()).isEqualTo(WcStatus.SUCCESS);
        way.close();
        in.close();
        out.close();
    }

    @Test
    void nobodyTakesDatagrams() throws Exception {
        ConnectionId listener = server.listening(PortSpace.UDP);
        ConnectionId active = client.resolved(listener);
        active.createQueuePair(client.domain, client.options(PortSpace.UDP));
        listener.close();
        active.connect(DEFAULTS);
        var rejected = client.next(ConnectionEvent.Rejected.class);
        assertThat(rejected.why()).contains("no program takes datagrams at");
    }

    @Test
    void aGroupIsJoinedAndLeft() throws Exception {
        ConnectionId member = server.id(PortSpace.UDP);
        member.bind(server.at(0));
        var qp = member.createQueuePair(server.domain, server.options(PortSpace.UDP));
        InetAddress group = InetAddress.ofLiteral("239.1.2.3");
        member.joinMulticast(group);
        var joined = server.next(ConnectionEvent.MulticastJoined.class);
        assertThat(joined.group()).isEqualTo(Gid.of(group));
        assertThat(joined.qpn()).isEqualTo(0xFF_FFFF);
        var in = server.domain.allocate(104, Access.local());
        qp.postReceive(1, in.slice(0, 104));
        AddressHandle way = server.domain.createAddressHandle(joined.path());
        var out = server.domain.allocate(64, Access.local());
        try (var batch = qp.sendBatch()) {
            batch.send(2)
                    .to(way, joined.qpn(), joined.qkey())
                    .sge(out, 0, 64)
                    .signaled()
                    .submit();
        }
        assertThat(server.completion()).isEqualTo(WcStatus.SUCCESS);
        assertThat(server.completion()).isEqualTo(WcStatus.SUCCESS); // one sent, one received
        member.leaveMulticast(group);
        assertThatExceptionOfType(InvalidStateException.class).isThrownBy(() -> member.leaveMulticast(group));
        assertThatThrownBy(() -> member.joinMulticast(server.at(0).getAddress()))
                .isInstanceOf(IllegalArgumentException.class);
        way.close();
        in.close();
        out.close();
    }

    @Test
    void eventsMoveWithTheirIdentifier() throws Exception {
        Pair pair = connected();
        try (var elsewhere = EventChannel.open(server.device)) {
            pair.server().migrate(elsewhere);
            pair.client().disconnect();
            var event = elsewhere.await(LONG).orElseThrow();
            assertThat(event).isInstanceOf(ConnectionEvent.Disconnected.class);
            assertThat(event.id()).isSameAs(pair.server());
            assertThat(server.channel.poll()).isEmpty();
            assertThatExceptionOfType(InUseException.class).isThrownBy(elsewhere::close);
            pair.server().close();
        }
    }

    @Test
    void verbsInTheWrongStateSayWhereItStands() {
        ConnectionId id = client.id(PortSpace.TCP);
        assertThatThrownBy(() -> id.connect(DEFAULTS))
                .hasMessageContaining("connect:")
                .hasMessageContaining("IDLE");
        assertThatThrownBy(() -> id.listen(1)).hasMessageContaining("listen:").hasMessageContaining("IDLE");
        assertThatThrownBy(id::resolveRoute).hasMessageContaining("resolveRoute:");
        assertThatThrownBy(() -> id.accept(DEFAULTS)).hasMessageContaining("accept:");
        assertThatThrownBy(id::disconnect).hasMessageContaining("there is no connection");
        assertThatThrownBy(id::context).hasMessageContaining("bind it or resolve an address first");
        id.bind(client.at(0));
        assertThat(id.localAddress().orElseThrow().getPort()).isPositive();
        assertThatThrownBy(() -> id.listen(0)).hasMessage("backlog: at least 1, got 0");
        assertThatThrownBy(() -> id.createQueuePair(server.domain, server.options(PortSpace.TCP)))
                .hasMessageContaining("of another context");
        assertThatThrownBy(() -> id.createQueuePair(client.domain, client.options(PortSpace.UDP)))
                .hasMessageContaining("does not go with port space TCP");
        id.close();
        assertThatThrownBy(() -> id.migrate(client.channel)).hasMessageContaining("is closed");
    }

    @Test
    void anAddressThatIsNotOursIsAnError() throws Exception {
        ConnectionId id = client.id(PortSpace.TCP);
        assertThatThrownBy(() -> id.bind(server.at(0))).hasMessageContaining("is no address of");
        id.resolveAddress(server.at(0), server.at(7471));
        assertThat(client.next(ConnectionEvent.AddressError.class).why()).contains("is no address of");
        assertThatThrownBy(() -> id.resolveAddress(InetSocketAddress.createUnresolved("no.such.host", 1)))
                .hasMessageStartingWith("destination: \"no.such.host\" is no known host");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::"})
    void aWildcardAddressIsThisHost(String wildcard) throws Exception {
        var anywhere = new InetSocketAddress(
                InetAddress.ofLiteral(wildcard),
                server.listening(PortSpace.TCP).localAddress().orElseThrow().getPort());
        ConnectionId from = client.id(PortSpace.TCP);
        from.bind(client.at(0));
        from.resolveAddress(anywhere);
        client.next(ConnectionEvent.AddressResolved.class);
        assertThat(from.peerAddress().orElseThrow().getAddress())
                .isEqualTo(client.at(0).getAddress());
        ConnectionId id = client.id(PortSpace.TCP);
        id.resolveAddress(anywhere);
        client.next(ConnectionEvent.AddressResolved.class);
        assertThat(id.peerAddress().orElseThrow().getAddress().isLoopbackAddress())
                .isTrue();
    }

    @Test
    void aChannelWithIdentifiersDoesNotClose() {
        ConnectionId id = client.id(PortSpace.TCP);
        assertThatExceptionOfType(InUseException.class).isThrownBy(client.channel::close);
        id.close();
    }
}
