package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import verbena.sim.NetworkFaults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// Goal F1 in virtual time: an idle connection notices that its peer is dead, and only that.
class DeadPeerTest {
    private static final int PORT = 7_471;
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /// Asks after 100 ms of silence, five times in all, and waits 67 ms for each answer: 435 ms at most, and a peer
    /// that stands still for 335 ms has not missed the last one.
    private static final ConnectionParameters WATCHFUL = ConnectionParameters.defaults()
            .withKeepAlive(Duration.ofMillis(100))
            .withRetries(AckTimeout.atLeast(Duration.ofMillis(60)), 4, 7);

    /// Two devices and a connection; the first is the client.
    private static final class Two {
        final World world;
        final SimDevice client;
        final SimDevice server;
        final EventChannel clients;
        final EventChannel servers;
        Optional<ConnectionEvent.Disconnected> end = Optional.empty();
        QueuePair queuePair;
        private ConnectionId accepted;
        private final ConnectionParameters ofServer;

        Two(long seed) {
            this(seed, NetworkFaults.NONE, ConnectionParameters.defaults());
        }

        /// @param meanwhile what is wrong with the network while the two connect
        /// @param ofServer what the server accepts with
        Two(long seed, NetworkFaults meanwhile, ConnectionParameters ofServer) {
            this.ofServer = ofServer;
            world = new World(seed);
            world.faults(meanwhile);
            client = world.addDevice();
            server = world.addDevice();
            clients = EventChannel.open(client.context());
            servers = EventChannel.open(server.context());
            ConnectionId listener = servers.createId(PortSpace.TCP);
            var address = new InetSocketAddress(
                    server.context().gids(1).getFirst().gid().address(), PORT);
            listener.bind(address);
            listener.listen(1);
            ConnectionId id = clients.createId(PortSpace.TCP);
            id.resolveAddress(address);
            boolean connected = world.runUntil(
                    () -> {
                        serve();
                        return go(id);
                    },
                    60 * SECOND);
            assertThat(connected).as("connected").isTrue();
        }

        private void serve() {
            servers.poll().ifPresent(event -> {
                if (event instanceof ConnectionEvent.ConnectRequest request) {
                    accepted = request.id();
                    queuePair(server, accepted);
                    accepted.accept(ofServer);
                }
            });
        }

        private boolean go(ConnectionId id) {
            switch (clients.poll().orElse(null)) {
                case ConnectionEvent.AddressResolved _ -> id.resolveRoute();
                case ConnectionEvent.RouteResolved _ -> {
                    queuePair = queuePair(client, id);
                    id.connect(WATCHFUL);
                }
                case ConnectionEvent.Established _ -> {
                    return true;
                }
                case ConnectionEvent.Disconnected disconnected -> end = Optional.of(disconnected);
                case null, default -> {}
            }
            return false;
        }

        private static QueuePair queuePair(SimDevice device, ConnectionId id) {
            ProtectionDomain domain = device.context().allocateProtectionDomain();
            CompletionQueue completions = device.context().createCompletionQueue(16);
            return id.createQueuePair(domain, QueuePairOptions.rc(completions));
        }

        /// Nothing is posted; whether it has ended meanwhile.
        boolean idle(long nanos) {
            world.stepAfter(nanos);
            long until = world.nowNanos() + nanos;
            while (end.isEmpty() && world.nowNanos() < until && world.step()) {
                look();
            }
            look();
            return end.isPresent();
        }

        private void look() {
            for (var event = clients.poll(); event.isPresent(); event = clients.poll()) {
                if (event.get() instanceof ConnectionEvent.Disconnected disconnected) {
                    end = Optional.of(disconnected);
                }
            }
        }

        long keepAlives() {
            return client.context().counters().get("keep.alives");
        }
    }

    @Test
    void inAnHourOfLossNobodyIsTakenForDead() {
        long start = System.nanoTime();
        long hours = Goal.size(1, 24);
        var two = new Two(Goal.seed());
        two.world.faults(NetworkFaults.of(0.01, 0, 0));

        assertThat(two.idle(hours * 3_600 * SECOND))
                .as(() -> two.end + "; again: " + Goal.command(DeadPeerTest.class))
                .isFalse();

        assertThat(two.keepAlives()).isGreaterThan(hours * 30_000);
        assertThat(two.queuePair.state()).isEqualTo(QpState.RTS);
        Goal.report(
                "F1",
                start,
                "%d h of virtual time at 1 %% loss, %,d questions, %,d of %,d packets lost: no false alarm"
                        .formatted(
                                hours,
                                two.keepAlives(),
                                two.world.network().lost(),
                                two.world.network().sent()));
    }

    @Test
    void aLivePeerThatStandsStillFor300MillisecondsIsNotTakenForDead() {
        long start = System.nanoTime();
        long pauses = Goal.size(1_000, 100_000);
        var two = new Two(Goal.seed());

        for (long i = 0; i < pauses; i++) {
            assertThat(two.idle(two.world.random().nextLong(SECOND))).isFalse();
            two.server.pause(300 * MILLISECOND);
            assertThat(two.idle(300 * MILLISECOND))
                    .as(() -> two.end + "; again: " + Goal.command(DeadPeerTest.class))
                    .isFalse();
        }

        Goal.report("F1", start, "%,d pauses of 300 ms: no false alarm".formatted(pauses));
    }

    /// The server accepts, and the client hears of it much later than a keep-alive waits for.
    @Test
    void aKeepAliveShorterThanTheHandshakeTakesNobodyForDead() {
        ConnectionParameters impatient = WATCHFUL.withKeepAlive(Duration.ofMillis(1))
                .withRetries(AckTimeout.atLeast(Duration.ofMillis(1)), 1, 7);
        for (int i = 0; i < 50; i++) {
            var two = new Two(Goal.seed() + i, NetworkFaults.of(0.3, 0, 0), impatient);
            two.world.faults(NetworkFaults.NONE);
            assertThat(two.idle(10 * SECOND)).as(() -> two.end.toString()).isFalse();
        }
    }

    /// All of them have something due when it goes on, and a socket's buffer holds 250 packets. Keep-alives that
    /// left all at once would get lost there.
    @Test
    void aProcessThatStoodStillWithAThousandConnectionsTakesNobodyForDead() {
        long start = System.nanoTime();
        var many = new Many(Goal.seed(), 1_000);
        many.client.slow(250, 3_000);
        many.server.slow(250, 3_000);
        for (int i = 0; i < 10; i++) {
            many.idle(many.world.random().nextLong(SECOND / 2));
            many.client.pause(SECOND / 2);
            many.idle(SECOND);
            assertThat(many.dead)
                    .as("pause " + i + "; again: " + Goal.command(DeadPeerTest.class))
                    .isEmpty();
        }
        Map<String, Long> counters = many.client.context().counters();
        assertThat(counters.get("retransmitted.packets")).isZero();
        Goal.report(
                "F1",
                start,
                "1,000 connections, the process stood still 10 times for 500 ms: %,d questions, none lost"
                        .formatted(counters.get("keep.alives")));
    }

    @Test
    void aDeadPeerIsNoticedWithin500Milliseconds() {
        long start = System.nanoTime();
        var took = new long[(int) Goal.size(200, 10_000)];
        for (int i = 0; i < took.length; i++) {
            var two = new Two(Goal.seed() + i);
            two.world.faults(NetworkFaults.of(0.01, 0, 0));
            assertThat(two.idle(two.world.random().nextLong(SECOND))).isFalse();
            long died = two.world.nowNanos();
            two.server.pause(3_600 * SECOND);

            assertThat(two.idle(10 * SECOND)).as("noticed at all").isTrue();

            took[i] = two.world.nowNanos() - died;
            assertThat(two.end.orElseThrow().why()).contains("keep-alive");
            assertThat(two.queuePair.state()).isEqualTo(QpState.ERR);
        }
        Arrays.sort(took);
        long p99 = took[took.length * 99 / 100];
        assertThat(p99).isLessThanOrEqualTo(500 * MILLISECOND);
        Goal.report(
                "F1",
                start,
                "%,d deaths of an idle peer at 1 %% loss, noticed after %d to %d ms, p99 %d ms"
                        .formatted(
                                took.length,
                                took[0] / MILLISECOND,
                                took[took.length - 1] / MILLISECOND,
                                p99 / MILLISECOND));
    }

    /// Two devices and many watched connections.
    private static final class Many {
        final World world;
        final SimDevice client;
        final SimDevice server;
        final List<String> dead = new ArrayList<>();
        private final EventChannel clients;
        private final EventChannel servers;
        private int established;

        Many(long seed, int connections) {
            world = new World(seed);
            client = world.addDevice();
            server = world.addDevice();
            clients = EventChannel.open(client.context());
            servers = EventChannel.open(server.context());
            ConnectionId listener = servers.createId(PortSpace.TCP);
            var address = new InetSocketAddress(
                    server.context().gids(1).getFirst().gid().address(), PORT);
            listener.bind(address);
            listener.listen(128);
            for (int i = 0; i < connections; i++) {
                int wanted = i + 1;
                clients.createId(PortSpace.TCP).resolveAddress(address);
                assertThat(world.runUntil(() -> look() && established == wanted, SECOND))
                        .isTrue();
            }
        }

        private boolean look() {
            for (var event = servers.poll(); event.isPresent(); event = servers.poll()) {
                if (event.get() instanceof ConnectionEvent.ConnectRequest request) {
                    Two.queuePair(server, request.id());
                    request.id().accept(ConnectionParameters.defaults());
                }
            }
            for (var event = clients.poll(); event.isPresent(); event = clients.poll()) {
                switch (event.get()) {
                    case ConnectionEvent.AddressResolved resolved ->
                        resolved.id().resolveRoute();
                    case ConnectionEvent.RouteResolved resolved -> {
                        Two.queuePair(client, resolved.id());
                        resolved.id().connect(WATCHFUL);
                    }
                    case ConnectionEvent.Established _ -> established++;
                    case ConnectionEvent.Disconnected end -> dead.add(end.why());
                    default -> {}
                }
            }
            return true;
        }

        void idle(long nanos) {
            world.stepAfter(nanos);
            long until = world.nowNanos() + nanos;
            while (world.nowNanos() < until && world.step()) {
                look();
            }
        }
    }
}
