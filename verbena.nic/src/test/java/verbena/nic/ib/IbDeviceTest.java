package verbena.nic.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricServer;
import verbena.nic.link.LinkException;
import verbena.subnet.fabric.ChannelAdapter;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.fabric.FabricWatch;
import verbena.subnet.manager.Administration;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.manager.Partition;
import verbena.subnet.node.NodePort;
import verbena.subnet.topology.TopologyText;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.LinkLayer;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortState;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.StaticRate;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.Req;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Grh;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Vcrc;
import verbena.wire.mad.Mad;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortInfo;

/// Devices of the soft fabric, over a fabric of two switches that a thread of the test runs.
@Timeout(180)
class IbDeviceTest {
    private static final int BYTES = 1 << 20;
    private static final int QKEY = 0x1234;
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String TOPOLOGY = """
            switch s1 4
            switch s2 4
            hca a
            hca b
            link a s1
            link s1 s2 1xQDR
            link b s2
            """;

    @TempDir
    private Path folder;

    private Fabric fabric = new Fabric(TopologyText.parse(TOPOLOGY), System.nanoTime());
    /// The thread of the fabric calls it.
    private volatile FabricServer.Description description =
            routes -> (routes ? "two routes\n" : "two switches\n").repeat(20_000);

    private FabricServer server;
    private Thread runner;

    /// A device and its objects.
    private final class End implements AutoCloseable {
        final Context context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final MemoryRegion memory;

        End(int number) {
            context = device(number).open();
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(256);
            memory = domain.allocate(BYTES, Access.remoteAll());
        }

        WorkCompletion completion() throws InterruptedException {
            var wc = new WorkCompletion();
            assertThat(cq.await(wc, SOON)).isTrue();
            assertThat(wc.ok()).as(wc.toString()).isTrue();
            return wc;
        }

        int lid() {
            return context.port(1).lids().lid();
        }

        @Override
        public void close() {
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    private Path place() {
        return folder.resolve("run").resolve("fabric");
    }

    private IbDevice device(int number) {
        FabricPort port = FabricPort.all(place()).get(number);
        return new IbDevice("ib" + number, number, place(), port.nodeGuid(), port.portGuid());
    }

    @BeforeEach
    void start() {
        fabric.manage(fabric.node("a"), ManagerOptions.DEFAULT, 1);
        serve();
    }

    /// Another fabric instead, whose manager does otherwise.
    private void startAgain(ManagerOptions options) throws InterruptedException {
        startAgain(options, null);
    }

    private void startAgain(ManagerOptions options, @Nullable FabricWatch watch) throws InterruptedException {
        stop();
        fabric = new Fabric(TopologyText.parse(TOPOLOGY), System.nanoTime());
        fabric.watch(watch);
        fabric.manage(fabric.node("a"), options, 1);
        serve();
    }

    private long guid(String adapter) {
        return fabric.node(adapter).node().port(1).guid();
    }

    private void serve() {
        server = new FabricServer(place(), fabric, routes -> description.of(routes));
        runner = new Thread(server::run, "fabric");
        runner.start();
        awaitPorts(PortInfo.ACTIVE, PortInfo.ACTIVE);
    }

    private void awaitPorts(int... states) {
        while (!Arrays.equals(
                states,
                FabricPort.all(place()).stream().mapToInt(FabricPort::state).toArray())) {
            Thread.onSpinWait();
        }
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.stop();
        runner.join();
        server.close();
    }

    @Test
    void aPortHasItsLidAndItsLinkLayer() {
        try (End a = new End(0);
                End b = new End(1)) {
            assertThat(a.context.port(1).linkLayer()).isEqualTo(LinkLayer.INFINIBAND);
            assertThat(a.context.port(1).state()).isEqualTo(PortState.ACTIVE);
            assertThat(List.of(a.lid(), b.lid())).containsExactly(3, 4);
            var known = device(1).port().orElseThrow();
            assertThat(List.of(known.lids().lid(), known.lids().subnetManagerLid()))
                    .as("without opening")
                    .containsExactly(4, 3);
            assertThat(a.context.gids(1)).hasSize(1).allMatch(gid -> gid.type() == GidType.IB);
            ChannelAdapter adapter = fabric.adapters().getFirst();
            assertThat(a.context.gids(1).getFirst().gid())
                    .isEqualTo(new Gid(0xFE80_0000_0000_0000L, adapter.info().guid()));
            assertThat(a.context.device().nodeGuid()).isEqualTo(adapter.guid());
            assertThat(a.context.attributes().capabilities())
                    .contains(Capability.CONNECTION_MANAGER, Capability.MULTICAST);
        }
    }

    @Test
    void reliableConnectionsMoveMemoryBothWays() throws Exception {
        try (End a = new End(0);
                End b = new End(1);
                QueuePair qa = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
                QueuePair qb = b.domain.createQueuePair(QueuePairOptions.rc(b.cq))) {
            assertThat(qa.endpoint().lid()).isEqualTo(a.lid());
            qa.connect(qb.endpoint());
            qb.connect(qa.endpoint());
            a.memory.segment().fill((byte) 7);
            try (SendBatch batch = qa.sendBatch()) {
                batch.write(1, b.memory.address(), b.memory.rkey())
                        .sge(a.memory, 0, BYTES)
                        .signaled()
                        .submit();
            }
            a.completion();
            assertThat(b.memory.segment().mismatch(a.memory.segment())).isEqualTo(-1);
            pingPong(a, qa, b, qb);
        }
    }

    private static void pingPong(End a, QueuePair qa, End b, QueuePair qb) throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            qb.postReceive(1, b.memory.slice(4_096, 64));
            qa.postReceive(2, a.memory.slice(4_096, 64));
            a.memory.segment().set(ValueLayout.JAVA_INT, 0, round);
            qa.postSend(3, a.memory.slice(0, 64));
            b.completion();
            assertThat(b.memory.segment().get(ValueLayout.JAVA_INT, 4_096)).isEqualTo(round);
            qb.postSend(4, b.memory.slice(4_096, 64));
            b.completion();
            a.completion();
            a.completion();
            assertThat(a.memory.segment().get(ValueLayout.JAVA_INT, 4_096)).isEqualTo(round);
        }
    }

    /// As programs in C do it when they are given no GID index.
    @Test
    void aConnectionByLidAloneHasNoGrh() throws Exception {
        try (End a = new End(0);
                End b = new End(1);
                QueuePair qa = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
                QueuePair qb = b.domain.createQueuePair(QueuePairOptions.rc(b.cq))) {
            connectByLid(qa, b.lid(), qb.qpn());
            connectByLid(qb, a.lid(), qa.qpn());
            NodePort at = fabric.adapters().get(1).info();
            long before = at.count(PortCounter.RECEIVE_PACKETS);
            pingPong(a, qa, b, qb);
            assertThat(at.count(PortCounter.RECEIVE_PACKETS)).isGreaterThan(before + 200);
        }
    }

    private static void connectByLid(QueuePair qp, int lid, int peer) {
        connectByLid(qp, 0, lid, peer);
    }

    private static void connectByLid(QueuePair qp, int pkeyIndex, int lid, int peer) {
        AddressVector to = AddressVector.to(new Gid(0, 0), 0).withDestinationLid(lid);
        qp.modify(new Transition.ToInit(1, pkeyIndex, Access.remoteAll()));
        qp.modify(new Transition.ToRtr(to, Mtu.MTU_2048, peer, 100, 4, new RnrTimer(12)));
        qp.modify(new Transition.ToRts(100, new AckTimeout(14), 3, 7, 4));
    }

    @Test
    void anAddressWithoutALidIsRefused() {
        try (End a = new End(0)) {
            assertThatThrownBy(() -> a.domain.createAddressHandle(AddressVector.to(Gid.parse("fe80::77"), 0)))
                    .isInstanceOf(InvalidAttributesException.class)
                    .hasMessageContaining("destinationLid: InfiniBand needs the LID of fe80::77");
        }
    }

    /// Connections by GID: the subnet administration tells the client the LID (IBTA 12.7.21, 15.2.5.16).
    @Test
    void aConnectionFindsItsWayByAPathRecord() throws Exception {
        try (End a = new End(0);
                End b = new End(1)) {
            connectAndWrite(a.context, b.context);
            connectAndWrite(b.context, a.context);
            connectAndWrite(b.context, b.context);
        }
    }

    /// IBTA 12.7: the REQ has what the path record says, and both queue pairs get it.
    @Test
    void aRequestForAConnectionHasThePathOfTheRecord() throws Exception {
        var requests = new ConcurrentLinkedQueue<Req>();
        int headers = Lrh.BYTES + Grh.BYTES + Bth.BYTES + Deth.BYTES;
        startAgain(ManagerOptions.DEFAULT, (_, _, memory, at, bytes) -> {
            if (bytes == headers + Mad.BYTES + Packet.ICRC_BYTES + Vcrc.BYTES) {
                MemorySegment mad = Mad.copyOf(memory.asSlice(at + headers, Mad.BYTES));
                if (CmMessage.read(mad) instanceof Req request) {
                    requests.add(request);
                }
            }
        });
        try (End a = new End(0);
                End b = new End(1)) {
            connectAndWrite(a.context, b.context);
            Req request = requests.element();
            assertThat(request.pathMtu()).isEqualTo(5);
            assertThat(request.pkey()).isEqualTo(0xFFFF);
            assertThat(request.primary().localLid()).isEqualTo(a.lid());
            assertThat(request.primary().remoteLid()).isEqualTo(b.lid());
            assertThat(request.primary().packetRate())
                    .as("10 Gb/s, of the slowest link")
                    .isEqualTo(3);
            assertThat(request.primary().hopLimit()).isZero();
            assertThat(request.primary().subnetLocal()).isTrue();
            assertThat(request.hasAlternate())
                    .as("ports of one LID have no second path")
                    .isFalse();
        }
    }

    /// IBTA 9.11: ports of 100 Gb/s, and 10 on the way: neither end sends faster than that.
    @Test
    void aConnectionThroughASlowLinkHasItsRateAtBothEnds() throws Exception {
        try (End a = new End(0);
                End b = new End(1)) {
            var options = ConnectionOptions.defaults();
            var at = new InetSocketAddress(b.context.gids(1).getFirst().gid().address(), 0);
            try (var listener = ConnectionListener.bind(at, options.withDevice(b.context))) {
                var accepted = new FutureTask<>(listener::accept);
                Thread.ofVirtual().start(accepted);
                try (var here = Connection.connect(listener.localAddress(), options.withDevice(a.context));
                        var there = accepted.get()) {
                    for (Connection end : List.of(here, there)) {
                        assertThat(end.queuePair()
                                        .query()
                                        .peer()
                                        .path()
                                        .orElseThrow()
                                        .staticRate())
                                .isEqualTo(StaticRate.GBPS_10);
                    }
                }
            }
        }
    }

    /// A slow sender may be slower still, because its thread has to run. So only the least time is looked at: that
    /// of 16 MiB at 2 Gb/s, which 2.5 Gb/s on the cable are.
    @Test
    void aQueuePairIsNoFasterThanItsStaticRate() throws Exception {
        try (End a = new End(0);
                End b = new End(1);
                QueuePair qa = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
                QueuePair qb = b.domain.createQueuePair(QueuePairOptions.rc(b.cq))) {
            var slow = AddressVector.to(new Gid(0, 0), 0)
                    .withDestinationLid(b.lid())
                    .withStaticRate(StaticRate.GBPS_2_5);
            connect(qa, slow, qb.qpn());
            connect(qb, slow.withDestinationLid(a.lid()), qa.qpn());
            assertThat(qa.query().peer().path()).contains(slow);
            int writes = 16;
            long start = System.nanoTime();
            for (int i = 0; i < writes; i++) {
                try (SendBatch batch = qa.sendBatch()) {
                    batch.write(i, b.memory.address(), b.memory.rkey())
                            .sge(a.memory, 0, BYTES)
                            .signaled()
                            .submit();
                }
            }
            for (int i = 0; i < writes; i++) {
                a.completion();
            }
            long least = 8L * writes * BYTES / 2; // nanoseconds
            assertThat(System.nanoTime() - start).isGreaterThan(least);
        }
    }

    private static void connect(QueuePair qp, AddressVector way, int qpn) {
        qp.modify(new Transition.ToInit(Access.remoteAll()));
        qp.modify(new Transition.ToRtr(way, Mtu.MTU_4096, qpn, 100, 4, new RnrTimer(12)));
        qp.modify(new Transition.ToRts(100, new AckTimeout(14), 7, 7, 4));
    }

    /// No path record, no request: the peer is not there.
    @Test
    void aPeerThatTheAdministrationDoesNotKnowIsUnreachable() {
        try (End a = new End(0)) {
            var nowhere = new InetSocketAddress(Gid.parse("fe80::dead").address(), 7);
            assertThatThrownBy(() -> Connection.connect(
                            nowhere, ConnectionOptions.defaults().withDevice(a.context)))
                    .isInstanceOf(ConnectionException.class)
                    .hasMessageContaining("the subnet administration knows no way to fe80::dead");
        }
    }

    private static void connectAndWrite(Context from, Context to) throws Exception {
        var options = ConnectionOptions.defaults();
        var at = new InetSocketAddress(to.gids(1).getFirst().gid().address(), 0);
        try (var listener = ConnectionListener.bind(at, options.withDevice(to))) {
            var accepted = new CompletableFuture<Connection>();
            Thread.ofVirtual().start(() -> {
                try {
                    accepted.complete(listener.accept());
                } catch (Throwable e) {
                    accepted.completeExceptionally(e);
                }
            });
            try (var here = Connection.connect(listener.localAddress(), options.withDevice(from));
                    var there = accepted.get(SOON.toSeconds(), TimeUnit.SECONDS)) {
                MemoryRegion in = there.allocate(64, Access.remoteAll());
                here.write("by path record".getBytes(StandardCharsets.US_ASCII), in.remote());
                assertThat(in.segment().getString(0)).isEqualTo("by path record");
                MemoryRegion back = here.allocate(64, Access.remoteAll());
                there.write("and back".getBytes(StandardCharsets.US_ASCII), back.remote());
                assertThat(back.segment().getString(0)).isEqualTo("and back");
            }
        }
    }

    /// There is no IP over InfiniBand here, so an IP address leads nowhere.
    @Test
    void anAddressOfIpIsRefused() {
        try (End a = new End(0)) {
            var options = ConnectionOptions.defaults().withDevice(a.context);
            var loopback = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 7_471);
            assertThatThrownBy(() -> Connection.connect(loopback, options))
                    .isInstanceOf(ConnectionException.class)
                    .hasMessageContaining("ib0 has no address to reach 127.0.0.1 from; it has [fe80::");
        }
    }

    @Test
    void unreliableConnectionsCarryMessages() throws Exception {
        try (End a = new End(0);
                End b = new End(1);
                QueuePair qa = a.domain.createQueuePair(QueuePairOptions.uc(a.cq));
                QueuePair qb = b.domain.createQueuePair(QueuePairOptions.uc(b.cq))) {
            qa.connect(qb.endpoint());
            qb.connect(qa.endpoint());
            pingPong(a, qa, b, qb);
        }
    }

    /// IBTA 11.4.2.1: a completion tells the LID and the service level, whether there is a GRH or not.
    @Test
    void aDatagramIsAnsweredWithAndWithoutGrh() throws Exception {
        try (End a = new End(0);
                End b = new End(1);
                QueuePair qa = datagrams(a);
                QueuePair qb = datagrams(b)) {
            for (Gid gid : List.of(new Gid(0, 0), b.context.gids(1).getFirst().gid())) {
                qb.postReceive(1, b.memory.slice(0, 200));
                qa.postReceive(2, a.memory.slice(0, 200));
                var to = AddressVector.to(gid, 0).withDestinationLid(b.lid()).withServiceLevel(2);
                var handle = a.domain.createAddressHandle(to);
                try (SendBatch batch = qa.sendBatch()) {
                    batch.send(3)
                            .sge(a.memory, 0, 100)
                            .to(handle, qb.qpn(), QKEY)
                            .submit();
                }
                WorkCompletion received = b.completion();
                assertThat(received.byteLength()).isEqualTo(140);
                assertThat(received.sourceQpn()).isEqualTo(qa.qpn());
                assertThat(received.sourceLid()).isEqualTo(a.lid());
                assertThat(received.serviceLevel()).isEqualTo(2);
                assertThat(received.pathBits()).isZero();
                assertThat(received.hasGrh()).isEqualTo(gid.high() != 0);
                var back = b.domain.createAddressHandle(
                        received, b.memory.segment().asSlice(0, 40));
                assertThat(back.vector().destination())
                        .isEqualTo(
                                gid.high() == 0
                                        ? new Gid(0, 0)
                                        : a.context.gids(1).getFirst().gid());
                assertThat(back.vector().destinationLid()).isEqualTo(a.lid());
                assertThat(back.vector().serviceLevel()).isEqualTo(2);
                try (SendBatch batch = qb.sendBatch()) {
                    batch.send(4).sge(b.memory, 0, 60).to(back, qa.qpn(), QKEY).submit();
                }
                assertThat(a.completion().byteLength()).isEqualTo(100);
                back.close();
                handle.close();
            }
        }
    }

    private static QueuePair datagrams(End end) {
        QueuePair qp = end.domain.createQueuePair(QueuePairOptions.ud(end.cq));
        qp.modify(new Transition.ToInitUd(1, 0, QKEY));
        qp.modify(new Transition.ToRtrUd());
        qp.modify(new Transition.ToRtsUnreliable(0));
        return qp;
    }

    private static final Gid GROUP = Gid.parse("ff12::77");

    private void awaitGroups(int wanted) {
        Administration administration = fabric.node("a").manager().administration();
        description = _ -> String.valueOf(administration.groups());
        while (!String.valueOf(wanted).equals(FabricPort.describe(place(), false))) {
            Thread.onSpinWait();
        }
    }

    private static void sendToGroup(End from, QueuePair by, AddressHandle group, int bytes)
            throws InterruptedException {
        try (SendBatch batch = by.sendBatch()) {
            batch.send(9)
                    .sge(from.memory, 0, bytes)
                    .to(group, Endpoint.MULTICAST_QPN, QKEY)
                    .submit();
        }
    }

    /// IBTA 15.2.5.17: attaching joins by the subnet administration, an address of the group makes a sender, and
    /// the last that leaves leaves.
    @Test
    void membersOfAGroupGetWhatItsSendersSend() throws Exception {
        try (End a = new End(0);
                End b = new End(1);
                QueuePair qa = datagrams(a);
                QueuePair qb = datagrams(b)) {
            QueuePair qc = datagrams(b);
            qb.attachMulticast(GROUP);
            awaitGroups(1);
            AddressHandle group = a.domain.createAddressHandle(AddressVector.to(GROUP, 0));
            qc.attachMulticast(GROUP);
            qb.postReceive(1, b.memory.slice(0, 200));
            qc.postReceive(2, b.memory.slice(200, 200));
            sendToGroup(a, qa, group, 100);
            assertThat(List.of(b.completion().wrId(), b.completion().wrId())).containsExactlyInAnyOrder(1L, 2L);
            qb.detachMulticast(GROUP);
            qc.postReceive(3, b.memory.slice(0, 200));
            sendToGroup(a, qa, group, 60);
            assertThat(b.completion().byteLength()).isEqualTo(100);
            qa.attachMulticast(GROUP);
            qa.postReceive(4, a.memory.slice(0, 200));
            qc.close();
            sendToGroup(a, qa, group, 50);
            assertThat(a.completion().byteLength())
                    .as("the own port is a member too")
                    .isEqualTo(90);
            group.close();
            awaitGroups(1);
            qa.detachMulticast(GROUP);
            awaitGroups(0);
        }
    }

    @Test
    void aGroupThatTheAdministrationRefusesIsAnError() {
        try (End a = new End(0);
                QueuePair qa = datagrams(a)) {
            Gid noGroup = Gid.parse("ff12::1");
            FabricPort.setLink(place(), "a", 0, false);
            awaitPorts(PortInfo.DOWN, PortInfo.ACTIVE);
            assertThatThrownBy(() -> qa.attachMulticast(noGroup))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("attachMulticast: multicast group ff12::1: the subnet administration");
        }
    }

    /// A new master knows no groups: it asks clients to register again (PortInfo, ClientReregister).
    @Test
    void aGroupOutlivesItsSubnetManager() throws Exception {
        try (End a = new End(0);
                End b = new End(1);
                QueuePair qa = datagrams(a);
                QueuePair qb = datagrams(b)) {
            qb.attachMulticast(GROUP);
            AddressHandle group = a.domain.createAddressHandle(AddressVector.to(GROUP, 0));
            FabricPort.setLink(place(), "b", 0, false);
            awaitPorts(PortInfo.ACTIVE, PortInfo.DOWN);
            FabricPort.setLink(place(), "b", 0, true);
            awaitPorts(PortInfo.ACTIVE, PortInfo.ACTIVE);
            qb.postReceive(1, b.memory.slice(0, 200));
            var wc = new WorkCompletion();
            do { // until the switches forward again
                sendToGroup(a, qa, group, 100);
            } while (!b.cq.await(wc, Duration.ofMillis(20)));
            assertThat(wc.ok()).isTrue();
            group.close();
        }
    }

    /// rdma_join_multicast(3): the event has the LID and the Q_Key of the group.
    @Test
    void anIdentifierJoinsByAnEvent() throws Exception {
        try (End a = new End(0);
                var channel = EventChannel.open(a.context);
                var id = channel.createId(PortSpace.UDP)) {
            id.bind(new InetSocketAddress(a.context.gids(1).getFirst().gid().address(), 0));
            QueuePair qp = id.createQueuePair(a.domain, QueuePairOptions.ud(a.cq));
            id.joinMulticast(GROUP.address());
            var joined = (ConnectionEvent.MulticastJoined) channel.await(SOON).orElseThrow();
            assertThat(joined.path().destinationLid()).isEqualTo(0xC000);
            assertThat(joined.qkey()).isEqualTo(ConnectionId.UDP_QKEY);
            AddressHandle group = a.domain.createAddressHandle(joined.path());
            qp.postReceive(1, a.memory.slice(0, 200));
            try (SendBatch batch = qp.sendBatch()) {
                batch.send(9)
                        .sge(a.memory, 0, 40)
                        .to(group, joined.qpn(), joined.qkey())
                        .submit();
            }
            assertThat(a.completion().byteLength()).isEqualTo(80);
            id.leaveMulticast(GROUP.address());
            group.close();
        }
        awaitGroups(0);
    }

    /// IBTA 10.9: a queue pair has a P_Key of the port's table, and packets of another partition are dropped.
    @Test
    void queuePairsOfOnePartitionReachEachOtherAndNoOther() throws Exception {
        startAgain(ManagerOptions.DEFAULT.withPartitions(List.of(
                new Partition(0x7FFF, Map.of(guid("a"), true), false),
                new Partition(0x11, Map.of(guid("a"), true, guid("b"), false), false),
                new Partition(0x22, Map.of(guid("b"), true), false))));
        try (End a = new End(0);
                End b = new End(1)) {
            assertThat(IntStream.range(0, 3).map(i -> a.context.pkey(1, i))).containsExactly(0xFFFF, 0x8011, 0);
            assertThat(IntStream.range(0, 3).map(i -> b.context.pkey(1, i))).containsExactly(0x7FFF, 0x11, 0x8022);
            assertThat(a.context.port(1).pkeyTableLength()).isEqualTo(NodePort.PKEYS);
            try (QueuePair qa = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
                    QueuePair qb = b.domain.createQueuePair(QueuePairOptions.rc(b.cq))) {
                connectByLid(qa, 1, b.lid(), qb.qpn());
                connectByLid(qb, 1, a.lid(), qa.qpn());
                pingPong(a, qa, b, qb);
                assertThat(qb.query().pkeyIndex()).isEqualTo(1);
            }
            connectAndWrite(a.context, b.context); // the subnet administration is asked by a limited member too
            try (QueuePair qa = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
                    QueuePair qb = b.domain.createQueuePair(QueuePairOptions.rc(b.cq))) {
                connectByLid(qa, 1, b.lid(), qb.qpn());
                connectByLid(qb, 2, a.lid(), qa.qpn());
                qb.postReceive(1, b.memory.slice(4_096, 64));
                qa.postSend(3, a.memory.slice(0, 64));
                var wc = new WorkCompletion();
                assertThat(a.cq.await(wc, SOON)).isTrue();
                assertThat(wc.status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
            }
            assertThatThrownBy(() -> a.context.pkey(1, NodePort.PKEYS))
                    .hasMessageContaining("pkey index: 0 to 127, got 128");
        }
    }

    /// LMC: a port has several LIDs, and a packet says from which and to which (IBTA 7.11.1, 11.2.2.1).
    @Test
    void pathBitsChooseAmongTheLidsOfAPort() throws Exception {
        startAgain(ManagerOptions.DEFAULT.withLmc(2));
        try (End a = new End(0);
                End b = new End(1);
                QueuePair qa = datagrams(a);
                QueuePair qb = datagrams(b)) {
            assertThat(a.context.port(1).lids().maskControl()).isEqualTo(2);
            qb.postReceive(1, b.memory.slice(0, 200));
            qa.postReceive(2, a.memory.slice(0, 200));
            var to = AddressVector.to(new Gid(0, 0), 0)
                    .withDestinationLid(b.lid() + 3)
                    .withSourcePathBits(2);
            AddressHandle handle = a.domain.createAddressHandle(to);
            try (SendBatch batch = qa.sendBatch()) {
                batch.send(3).sge(a.memory, 0, 50).to(handle, qb.qpn(), QKEY).submit();
            }
            WorkCompletion received = b.completion();
            assertThat(received.pathBits()).isEqualTo(3);
            assertThat(received.sourceLid()).isEqualTo(a.lid() + 2);
            AddressHandle back =
                    b.domain.createAddressHandle(received, b.memory.segment().asSlice(0, 40));
            assertThat(back.vector().sourcePathBits()).isEqualTo(3);
            try (SendBatch batch = qb.sendBatch()) {
                batch.send(4).sge(b.memory, 0, 60).to(back, qa.qpn(), QKEY).submit();
            }
            WorkCompletion answer = a.completion();
            assertThat(answer.pathBits()).isEqualTo(2);
            assertThat(answer.sourceLid()).isEqualTo(b.lid() + 3);
            handle.close();
            back.close();
        }
    }

    /// Monitors and daemons open every device, and must not keep others from using them.
    @Test
    void anyNumberOfDevicesHasAnAdapterOpenAndOneHasItsQueuePairs() throws Exception {
        try (End watching = new End(0);
                End b = new End(1)) {
            assertThat(FabricPort.all(place())).extracting(FabricPort::isInUse).containsExactly(false, false);
            try (End a = new End(0);
                    QueuePair qa = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
                    QueuePair qb = b.domain.createQueuePair(QueuePairOptions.rc(b.cq))) {
                assertThat(FabricPort.all(place()))
                        .extracting(FabricPort::isInUse)
                        .containsExactly(true, true);
                assertThatThrownBy(() -> watching.domain.createQueuePair(QueuePairOptions.rc(watching.cq)))
                        .isInstanceOf(DeviceException.class)
                        .hasMessageContaining("createQueuePair: adapter 0 is in use");
                qa.connect(qb.endpoint());
                qb.connect(qa.endpoint());
                pingPong(a, qa, b, qb);
                assertThat(FabricPort.setLink(place(), "a", 0, false)).isEmpty();
                assertThat(List.of(event(a), event(watching))).containsOnly(AsyncEvent.Type.PORT_ERR);
                assertThat(FabricPort.setLink(place(), "a", 0, true)).isEmpty();
                assertThat(List.of(event(a), event(watching))).containsOnly(AsyncEvent.Type.PORT_ACTIVE);
            }
            while (FabricPort.all(place()).getFirst().isInUse()) {
                Thread.onSpinWait();
            }
            watching.domain.createQueuePair(QueuePairOptions.rc(watching.cq)).close();
            assertThat(watching.lid()).isEqualTo(3);
        }
    }

    @Test
    void theEndOfTheFabricIsTheEndOfThePort() throws Exception {
        try (End a = new End(0)) {
            assertThat(FabricPort.describe(place(), false)).isEqualTo("two switches\n".repeat(20_000));
            assertThat(FabricPort.describe(place(), true)).isEqualTo("two routes\n".repeat(20_000));
            server.stop();
            runner.join();
            server.close();
            while (a.context.port(1).state() != PortState.DOWN) {
                Thread.onSpinWait();
            }
            assertThat(FabricPort.all(place())).isEmpty();
            serve();
        }
    }

    /// What a program is told when a link goes and comes back (ibv_get_async_event(3)).
    @Test
    void theLossOfALinkIsAnEventOfThePort() throws Exception {
        try (End a = new End(0);
                End b = new End(1)) {
            assertThat(FabricPort.setLink(place(), "b", 0, false)).isEmpty();
            assertThat(event(b)).isEqualTo(AsyncEvent.Type.PORT_ERR);
            assertThat(b.context.port(1).state()).isEqualTo(PortState.DOWN);
            assertThat(a.context.port(1).state()).isEqualTo(PortState.ACTIVE);
            assertThat(FabricPort.setLink(place(), "b", 1, true)).isEmpty();
            assertThat(event(b)).isEqualTo(AsyncEvent.Type.PORT_ACTIVE);
            assertThat(b.lid()).isEqualTo(4);
            assertThat(b.context.port(1).link().speed()).as("25 Gb/s a lane").isEqualTo(PortAttributes.Link.Speed.EDR);
            assertThat(FabricPort.setLink(place(), "b", 2, true)).isEqualTo("b has ports 1 to 1");
            assertThat(FabricPort.setLink(place(), "x", 0, true)).isEqualTo("there is no node x");
        }
    }

    private static AsyncEvent.Type event(End end) throws InterruptedException {
        return end.context.awaitAsyncEvent(SOON).orElseThrow().type();
    }

    @Test
    void aSecondFabricAndAFolderOfOthersAreRefused() throws IOException {
        assertThatThrownBy(() -> new FabricServer(place(), fabric, _ -> ""))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining("there is a fabric already");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(place().getParent())))
                .isEqualTo("rwx------");
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThatThrownBy(() -> new FabricServer(open.resolve("fabric"), fabric, _ -> ""))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining("only its user may enter");
    }

    @Test
    void aDeviceOfAnotherProcessTakesPart() throws Exception {
        var command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                IbPeer.class.getName());
        var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("VERBENA_FABRIC", place().toString());
        Process peer = builder.start();
        try (End a = new End(0);
                QueuePair qa = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
                BufferedReader from = peer.inputReader();
                var to = new PrintStream(peer.getOutputStream(), true)) {
            to.println(qa.endpoint().format());
            qa.connect(Endpoint.parse(from.readLine()));
            qa.postReceive(2, a.memory.slice(4_096, 64));
            to.println("connected");
            a.completion();
            assertThat(a.memory.segment().get(ValueLayout.JAVA_INT, 4_096)).isEqualTo(IbPeer.SAYS);
            assertThat(peer.waitFor()).isZero();
        } finally {
            peer.destroy();
        }
    }
}
