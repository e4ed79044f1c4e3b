package verbena.nic.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricServer;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.topology.TopologyText;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AlternatePath;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.PathMigration;
import verbena.verbs.PortState;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Migration to an alternate path over a fabric with two spines: with LMC 1 each adapter has two LIDs, whose routes
/// differ. The manager's cable is pulled, so that only migration repairs a cut.
@Timeout(180)
class IbMigrationTest {
    private static final AckTimeout TIMEOUT = new AckTimeout(14);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int LEAF1_TO_SPINES = 7;
    private static final String TOPOLOGY = """
            switch leaf1 8
            switch leaf2 8
            switch spine1 4
            switch spine2 4
            hca m
            hca a
            hca b
            link m leaf1:1
            link a leaf1:2
            link b leaf2:1
            link leaf1:7 spine1:1
            link leaf1:8 spine2:1
            link leaf2:7 spine1:2
            link leaf2:8 spine2:2
            """;

    @TempDir
    private Path folder;

    private final Fabric fabric = new Fabric(TopologyText.parse(TOPOLOGY), System.nanoTime());
    private FabricServer server;
    private Thread runner;

    private Path place() {
        return folder.resolve("run").resolve("fabric");
    }

    @BeforeEach
    void start() {
        fabric.manage(fabric.node("m"), ManagerOptions.DEFAULT.withLmc(1), 1);
        server = new FabricServer(place(), fabric, _ -> "");
        runner = new Thread(server::run, "fabric");
        runner.start();
        while (FabricPort.all(place()).stream().anyMatch(port -> port.state() != 4)) {
            Thread.onSpinWait();
        }
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.stop();
        runner.join();
        server.close();
    }

    /// A device and a queue pair on it.
    private final class End implements AutoCloseable {
        final Context context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final MemoryRegion memory;
        final QueuePair qp;

        End(int adapter) {
            FabricPort port = FabricPort.all(place()).get(adapter);
            context = new IbDevice("ib" + adapter, adapter, place(), port.nodeGuid(), port.portGuid()).open();
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(64);
            memory = domain.allocate(1 << 16, Access.remoteAll());
            qp = domain.createQueuePair(QueuePairOptions.rc(cq));
        }

        int lid() {
            return context.port(1).lids().lid();
        }

        /// The way to a peer, to one of its two LIDs and from one of the own.
        AddressVector way(End peer, boolean isGlobal, int bits) {
            Gid to = isGlobal ? peer.context.gids(1).getFirst().gid() : new Gid(0, 0);
            return AddressVector.to(to, 0).withDestinationLid(peer.lid() + bits).withSourcePathBits(bits);
        }

        void connect(End peer, boolean isGlobal) {
            qp.modify(new Transition.ToInit(Access.remoteAll()));
            qp.modify(
                    new Transition.ToRtr(way(peer, isGlobal, 0), Mtu.MTU_1024, peer.qp.qpn(), 100, 4, new RnrTimer(12))
                            .modification()
                            .withAlternatePath(new AlternatePath(way(peer, isGlobal, 1), 0, TIMEOUT)));
            qp.modify(
                    new Transition.ToRts(100, TIMEOUT, 6, 7, 4).modification().withPathMigration(PathMigration.REARM));
        }

        void completion() throws InterruptedException {
            var wc = new WorkCompletion();
            assertThat(cq.await(wc, SOON)).isTrue();
            assertThat(wc.ok()).as(wc.toString()).isTrue();
        }

        /// The next event of the queue pair; events of the port may be between.
        AsyncEvent.Type event() throws InterruptedException {
            while (true) {
                if (context.awaitAsyncEvent(SOON).orElseThrow() instanceof AsyncEvent.QueuePairEvent event) {
                    return event.type();
                }
            }
        }

        PathMigration migration() {
            return qp.query().peer().pathMigration();
        }

        @Override
        public void close() {
            qp.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    private static void pingPong(End a, End b, int rounds) throws InterruptedException {
        for (int round = 0; round < rounds; round++) {
            b.qp.postReceive(1, b.memory.slice(4_096, 64));
            a.qp.postReceive(2, a.memory.slice(4_096, 64));
            a.memory.segment().set(ValueLayout.JAVA_INT, 0, round);
            a.qp.postSend(3, a.memory.slice(0, 64));
            b.completion();
            b.qp.postSend(4, b.memory.slice(4_096, 64));
            b.completion();
            a.completion();
            a.completion();
            assertThat(a.memory.segment().get(ValueLayout.JAVA_INT, 4_096)).isEqualTo(round);
        }
    }

    /// The link that the first of the two ways takes from a leaf to the adapter at the other one.
    private int firstLink(String leaf, End atLeaf2, End atLeaf1) {
        End to = leaf.equals("leaf1") ? atLeaf2 : atLeaf1;
        var tables = fabric.node(leaf).node().tables();
        assertThat(tables.port(to.lid())).as("two ways").isNotEqualTo(tables.port(to.lid() + 1));
        assertThat(tables.port(to.lid())).isGreaterThanOrEqualTo(LEAF1_TO_SPINES);
        return tables.port(to.lid());
    }

    private void cut(String node, int port) {
        assertThat(FabricPort.setLink(place(), node, port, false)).isEmpty();
    }

    private void migratesWhenItsLinkIsCut(boolean isGlobal) throws Exception {
        try (End a = new End(1);
                End b = new End(2)) {
            assertThat(a.context.attributes().capabilities()).contains(Capability.PATH_MIGRATION);
            a.connect(b, isGlobal);
            b.connect(a, isGlobal);
            assertThat(a.migration()).isEqualTo(PathMigration.REARM);
            assertThat(a.qp.query().peer().alternatePath().orElseThrow().path()).isEqualTo(a.way(b, isGlobal, 1));
            pingPong(a, b, 50);
            assertThat(a.migration()).isEqualTo(PathMigration.ARMED);
            assertThat(b.migration()).isEqualTo(PathMigration.ARMED);

            cut("m", 1);
            int link = firstLink("leaf1", b, a);
            cut("leaf1", link);
            pingPong(a, b, 50);
            assertThat(a.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
            assertThat(b.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
            assertThat(a.qp.state()).isEqualTo(QpState.RTS);
            assertThat(a.migration()).isEqualTo(PathMigration.MIGRATED);
            assertThat(a.qp.query().peer().path()).contains(a.way(b, isGlobal, 1));
            assertThat(a.qp.query().peer().alternatePath()).isEmpty();
            assertThat(b.qp.query().peer().path()).contains(b.way(a, isGlobal, 1));
            assertThat(a.context.port(1).state()).isEqualTo(PortState.ACTIVE);
        }
    }

    @Test
    void aConnectionByLidGoesOnByTheAlternatePathWhenItsLinkIsCut() throws Exception {
        migratesWhenItsLinkIsCut(false);
    }

    @Test
    void aConnectionByGidGoesOnByTheAlternatePathWhenItsLinkIsCut() throws Exception {
        migratesWhenItsLinkIsCut(true);
    }

    /// The REQ offers the path between the second LIDs, and both ends load it (IBTA 12.6.5, 12.9.7): no program
    /// does anything for that.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aConnectionOfTheManagerMigratesByItself(boolean cutAtTheListener) throws Exception {
        try (End a = new End(1);
                End b = new End(2)) {
            var options = ConnectionOptions.defaults();
            var at = new InetSocketAddress(b.context.gids(1).getFirst().gid().address(), 0);
            try (var listener = ConnectionListener.bind(at, options.withDevice(b.context))) {
                var accepted = new FutureTask<>(listener::accept);
                Thread.ofVirtual().start(accepted);
                try (var here = Connection.connect(listener.localAddress(), options.withDevice(a.context));
                        var there = accepted.get()) {
                    talk(here, there);
                    for (QueuePair qp : new QueuePair[] {here.queuePair(), there.queuePair()}) {
                        assertThat(qp.query().peer().pathMigration()).isEqualTo(PathMigration.ARMED);
                    }
                    AddressVector second = here.queuePair()
                            .query()
                            .peer()
                            .alternatePath()
                            .orElseThrow()
                            .path();
                    assertThat(second).isEqualTo(a.way(b, true, 1));

                    cut("m", 1);
                    cut(cutAtTheListener ? "leaf2" : "leaf1", firstLink(cutAtTheListener ? "leaf2" : "leaf1", b, a));
                    talk(here, there);
                    assertThat(a.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
                    assertThat(b.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
                    assertThat(here.queuePair().query().peer().path()).contains(second);
                }
            }
        }
    }

    /// After a migration the connection has an alternate path again, by LAP and APR (IBTA 12.8): the one that was
    /// left. So it outlives a second fault, once the first one is repaired.
    @Test
    void aConnectionOfTheManagerOutlivesASecondFault() throws Exception {
        try (End a = new End(1);
                End b = new End(2)) {
            var options = ConnectionOptions.defaults();
            var at = new InetSocketAddress(b.context.gids(1).getFirst().gid().address(), 0);
            try (var listener = ConnectionListener.bind(at, options.withDevice(b.context))) {
                var accepted = new FutureTask<>(listener::accept);
                Thread.ofVirtual().start(accepted);
                try (var here = Connection.connect(listener.localAddress(), options.withDevice(a.context));
                        var there = accepted.get()) {
                    talk(here, there);
                    AddressVector first = here.queuePair().query().peer().path().orElseThrow();
                    int firstLink = firstLink("leaf1", b, a);
                    int secondLink = fabric.node("leaf1").node().tables().port(b.lid() + 1);

                    cut("m", 1);
                    cut("leaf1", firstLink);
                    talk(here, there);
                    assertThat(a.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
                    assertThat(b.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
                    talkUntilArmed(here, there);
                    assertThat(here.queuePair()
                                    .query()
                                    .peer()
                                    .alternatePath()
                                    .orElseThrow()
                                    .path())
                            .isEqualTo(first);

                    heal("leaf1", firstLink);
                    heal("m", 1);
                    while (fabric.node("leaf1").node().port(firstLink).state() != 4
                            || fabric.node("leaf1").node().tables().port(b.lid()) != firstLink) {
                        Thread.onSpinWait();
                    }
                    cut("m", 1);
                    cut("leaf1", secondLink);
                    talk(here, there);
                    assertThat(a.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
                    assertThat(b.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
                    assertThat(here.queuePair().query().peer().path()).contains(first);
                    talkUntilArmed(here, there);
                }
            }
        }
    }

    /// By traffic: the states of both ends are told by packets.
    private static void talkUntilArmed(Connection here, Connection there) throws InterruptedException {
        while (here.queuePair().query().peer().pathMigration() != PathMigration.ARMED
                || there.queuePair().query().peer().pathMigration() != PathMigration.ARMED) {
            talk(here, there);
        }
    }

    private void heal(String node, int port) {
        assertThat(FabricPort.setLink(place(), node, port, true)).isEmpty();
    }

    private static void talk(Connection here, Connection there) throws InterruptedException {
        MemoryRegion in = there.allocate(4, Access.remoteAll());
        MemoryRegion back = here.allocate(4, Access.remoteAll());
        for (byte round = 1; round < 20; round++) {
            here.write(new byte[] {round}, in.remote());
            there.write(new byte[] {round}, back.remote());
            assertThat(in.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(round);
            assertThat(back.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(round);
        }
    }

    @Test
    void aProgramMigratesAndComesBack() throws Exception {
        try (End a = new End(1);
                End b = new End(2)) {
            a.connect(b, false);
            b.connect(a, false);
            pingPong(a, b, 1);
            a.qp.modify(new QpModification().withPathMigration(PathMigration.MIGRATED));
            assertThat(a.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
            pingPong(a, b, 1);
            assertThat(b.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
            for (End end : new End[] {a, b}) {
                AddressVector first = end.way(end == a ? b : a, false, 0);
                end.qp.modify(new QpModification()
                        .withAlternatePath(new AlternatePath(first, 0, TIMEOUT))
                        .withPathMigration(PathMigration.REARM));
            }
            pingPong(a, b, 1);
            b.qp.modify(new QpModification().withPathMigration(PathMigration.MIGRATED));
            pingPong(a, b, 1);
            assertThat(a.event()).isEqualTo(AsyncEvent.Type.PATH_MIG);
            assertThat(a.qp.query().peer().path()).contains(a.way(b, false, 0));
        }
    }

    @Test
    void aPeerThatMigratesToAnotherPathThanWasLoadedIsReported() throws Exception {
        try (End a = new End(1);
                End b = new End(2)) {
            a.connect(b, true);
            b.connect(a, true);
            b.qp.modify(new QpModification().withAlternatePath(new AlternatePath(b.way(a, true, 0), 0, TIMEOUT)));
            pingPong(a, b, 2);
            a.qp.modify(new QpModification().withPathMigration(PathMigration.MIGRATED));
            a.qp.postSend(1, a.memory.slice(0, 64));
            assertThat(b.event()).isEqualTo(AsyncEvent.Type.PATH_MIG_ERR);
            assertThat(b.migration()).isEqualTo(PathMigration.ARMED);
        }
    }

    @Test
    void whatDoesNotFollowIsRefusedAndChangesNothing() {
        try (End a = new End(1);
                End b = new End(2)) {
            a.qp.modify(new Transition.ToInit(Access.remoteAll()));
            a.qp.modify(new Transition.ToRtr(a.way(b, false, 0), Mtu.MTU_1024, b.qp.qpn(), 100, 4, new RnrTimer(12)));
            a.qp.modify(new Transition.ToRts(100, TIMEOUT, 6, 7, 4));
            refused(a, migration(PathMigration.ARMED), "becomes ARMED by itself");
            refused(a, migration(PathMigration.REARM), "REARM needs an alternate path");
            a.qp.modify(migration(PathMigration.MIGRATED));
            var alternate = a.way(b, false, 1);
            refused(
                    a,
                    new QpModification().withAlternatePath(new AlternatePath(alternate, 128, TIMEOUT)),
                    "pkeyIndex: 0 to 127");
            refused(
                    a,
                    new QpModification().withAlternatePath(new AlternatePath(alternate.withPort(2), 0, TIMEOUT)),
                    "port: 1 is the only one");
            a.qp.modify(migration(PathMigration.REARM).withAlternatePath(new AlternatePath(alternate, 0, TIMEOUT)));
            refused(a, migration(PathMigration.MIGRATED), "waits for a packet of its peer");
            assertThat(a.migration()).isEqualTo(PathMigration.REARM);
            a.qp.modify(new QpModification().withState(QpState.RESET));
            assertThat(a.migration()).isEqualTo(PathMigration.MIGRATED);
            assertThat(a.qp.query().peer().alternatePath()).isEmpty();
            try (QueuePair datagrams = a.domain.createQueuePair(QueuePairOptions.ud(a.cq))) {
                datagrams.modify(new Transition.ToInitUd(1, 0, 1));
                assertThatThrownBy(() -> datagrams.modify(new QpModification()
                                .withState(QpState.RTR)
                                .withAlternatePath(new AlternatePath(alternate, 0, TIMEOUT))))
                        .hasMessageContaining("does not take [ALT_PATH]");
            }
        }
    }

    private static QpModification migration(PathMigration to) {
        return new QpModification().withPathMigration(to);
    }

    private static void refused(End end, QpModification modification, String why) {
        assertThatThrownBy(() -> end.qp.modify(modification))
                .isInstanceOf(InvalidAttributesException.class)
                .hasMessageContaining(why);
    }
}
