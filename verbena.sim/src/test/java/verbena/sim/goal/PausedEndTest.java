package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// Goal F4 in virtual time: an end that has stood still looks at what has arrived meanwhile before it judges its
/// peers.
class PausedEndTest {
    private static final int PORT = 7_471;
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final AckTimeout ACK_TIMEOUT = AckTimeout.atLeast(Duration.ofMillis(60));

    /// A client and a server with connections between them.
    private static final class Crowd {
        final World world;
        final SimDevice client;
        final SimDevice server;
        final EventChannel clients;
        final EventChannel servers;
        final ConnectionParameters parameters;
        final CompletionQueue completions;
        final ProtectionDomain domain;
        final CompletionQueue serverCompletions;
        final ProtectionDomain serverDomain;
        final List<QueuePair> queuePairs = new ArrayList<>();
        int established;
        int ended;
        String why = "";

        Crowd(long seed, int size, ConnectionParameters parameters) {
            this.parameters = parameters;
            world = new World(seed);
            client = world.addDevice();
            server = world.addDevice();
            clients = EventChannel.open(client.context());
            servers = EventChannel.open(server.context());
            domain = client.context().allocateProtectionDomain();
            completions = client.context().createCompletionQueue(4 * size + 16);
            serverDomain = server.context().allocateProtectionDomain();
            serverCompletions = server.context().createCompletionQueue(4 * size + 16);
            ConnectionId listener = servers.createId(PortSpace.TCP);
            var address = new InetSocketAddress(
                    server.context().gids(1).getFirst().gid().address(), PORT);
            listener.bind(address);
            listener.listen(64);
            for (int i = 0; i < size; i++) {
                int wanted = i + 1;
                clients.createId(PortSpace.TCP).resolveAddress(address);
                assertThat(world.runUntil(
                                () -> {
                                    look();
                                    return established == wanted;
                                },
                                60 * SECOND))
                        .as("connected")
                        .isTrue();
            }
        }

        void look() {
            for (var event = servers.poll(); event.isPresent(); event = servers.poll()) {
                if (event.get() instanceof ConnectionEvent.ConnectRequest request) {
                    request.id().createQueuePair(serverDomain, options(serverCompletions));
                    request.id().accept(ConnectionParameters.defaults());
                }
            }
            for (var event = clients.poll(); event.isPresent(); event = clients.poll()) {
                switch (event.get()) {
                    case ConnectionEvent.AddressResolved resolved ->
                        resolved.id().resolveRoute();
                    case ConnectionEvent.RouteResolved resolved -> {
                        queuePairs.add(resolved.id().createQueuePair(domain, options(completions)));
                        resolved.id().connect(parameters);
                    }
                    case ConnectionEvent.Established _ -> established++;
                    case ConnectionEvent.Disconnected disconnected -> {
                        ended++;
                        why = disconnected.why();
                    }
                    default -> {}
                }
            }
        }

        private static QueuePairOptions options(CompletionQueue completions) {
            return QueuePairOptions.rc(completions).withDepth(4, 4);
        }

        /// Time passes.
        void run(long nanos) {
            long until = world.nowNanos() + nanos;
            world.stepAfter(nanos);
            while (world.nowNanos() < until && world.step()) {
                look();
            }
            look();
        }
    }

    private static ConnectionParameters watchful(int retries) {
        return ConnectionParameters.defaults()
                .withKeepAlive(Duration.ofMillis(100))
                .withRetries(ACK_TIMEOUT, retries, 7);
    }

    @Test
    void whoeverHasSleptTakesNobodyForDead() {
        long start = System.nanoTime();
        long pauses = Goal.size(200, 20_000);
        var crowd = new Crowd(Goal.seed(), 20, watchful(4));
        for (long i = 0; i < pauses; i++) {
            crowd.run(crowd.world.random().nextLong(300 * MILLISECOND));
            long nanos = 100 * MILLISECOND + crowd.world.random().nextLong(10 * SECOND);
            crowd.client.pause(nanos);
            crowd.run(nanos);
            assertThat(crowd.ended)
                    .as(() -> crowd.why + "; again: " + Goal.command(PausedEndTest.class))
                    .isZero();
        }
        Goal.report("F4", start, "%,d pauses of 0.1 to 10 s of the end that asks: no false alarm".formatted(pauses));
    }

    @Test
    void anAnswerThatCameWhileTheEndSleptCountsThoughItsTimeIsOver() {
        var crowd = new Crowd(Goal.seed(), 1, ConnectionParameters.defaults().withRetries(ACK_TIMEOUT, 0, 7));
        MemoryRegion theirs = crowd.server.register(crowd.serverDomain, 64, Access.remoteAll());
        MemoryRegion ours = crowd.client.register(crowd.domain, 64, Access.local());
        QueuePair queuePair = crowd.queuePairs.getFirst();
        var wc = new WorkCompletion();
        for (int i = 0; i < 100; i++) {
            queuePair.postWrite(i, ours.slice(0, 64), theirs.remote());
            crowd.run(1_000); // it has left, and is not there yet
            assertThat(crowd.completions.poll(wc)).isFalse();
            crowd.client.pause(SECOND);
            crowd.run(2 * SECOND);

            assertThat(crowd.client.poll(crowd.completions, wc)).isTrue();
            assertThat(wc.ok()).as("%s", wc).isTrue();
        }
        assertThat(queuePair.state()).isEqualTo(QpState.RTS);
    }

    @Test
    void thousandsOfConnectionsOfAProcessThatWasStarvedStay() {
        long start = System.nanoTime();
        int size = (int) Goal.size(1_500, 10_000);
        var crowd = new Crowd(Goal.seed(), size, watchful(4));
        // As a socket's buffer: so many wait, and each takes 5 microseconds.
        crowd.server.slow(256, 5_000);
        crowd.client.slow(256, 5_000);
        for (int i = 0; i < 2; i++) {
            crowd.run(500 * MILLISECOND);
            crowd.client.pause(500 * MILLISECOND);
            crowd.run(SECOND);
            int round = i;
            assertThat(crowd.ended)
                    .as(() -> "after pause " + round + " of %,d connections: ".formatted(size) + crowd.why)
                    .isZero();
        }
        Goal.report("F4", start, "%,d watched connections of a process that was starved twice stay".formatted(size));
    }
}
