package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import verbena.sim.NetworkFaults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.News;

/// Connections of real devices on a bad network: made, used in both directions, ended by either end, many at once.
/// Each message reaches the connection that it is for and no other; each end is told of once; when the network
/// heals everything ends and nothing is left.
class ConnectionsTest {
    private static final long SEEDS = Goal.size(25, 1_000);
    private static final int CYCLES = 80;
    private static final int PORT = 7471;
    private static final int MESSAGE_BYTES = 64;
    private static final long SECOND = 1_000_000_000;
    /// Tables grow, and numbers rest for a minute.
    private static final int WARM_UP = 500;

    private enum Step {
        MAKING,
        USED,
        ENDED
    }

    /// One end of one connection.
    private static final class ConnectionEnd {
        final Host host;
        final int number;
        final boolean isActive;
        final QueuePair qp;
        final MemoryRegion memory;
        final ConnectionService.OwnSide end;

        @Nullable
        Exchange exchange;

        Step step = Step.MAKING;
        boolean heard;
        int ends;

        ConnectionEnd(Host host, int number, boolean isActive) {
            this.host = host;
            this.number = number;
            this.isActive = isActive;
            qp = host.domain.createQueuePair(QueuePairOptions.rc(host.cq));
            memory = host.device.register(host.domain, 2 * MESSAGE_BYTES, Access.remoteAll());
            var parameters = ConnectionParameters.defaults()
                    .withPrivateData(
                            PrivateData.of(ByteBuffer.allocate(4).putInt(number).array()));
            end = new ConnectionService.OwnSide(Optional.of(qp), QpType.RC, qp.qpn(), 0, false, parameters);
            qp.modify(new Transition.ToInit(Access.remoteAll()));
            qp.postReceive(1, memory.slice(MESSAGE_BYTES, MESSAGE_BYTES));
            host.byQpn.put(qp.qpn(), this);
        }

        Exchange exchange() {
            return Objects.requireNonNull(exchange);
        }

        void ready() {
            qp.modify(exchange().modification(QpState.RTR, end));
            qp.modify(exchange().modification(QpState.RTS, end));
        }

        void speak() {
            memory.segment().set(ValueLayout.JAVA_INT, 0, number);
            qp.postSend(2, memory.slice(0, MESSAGE_BYTES));
        }

        void close() {
            host.byQpn.remove(qp.qpn());
            qp.close();
            memory.close();
        }
    }

    /// A device and its program.
    private static final class Host {
        final SimDevice device;
        final ConnectionService service;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final Map<Integer, ConnectionEnd> byQpn = new HashMap<>();
        /// What the device tells is looked at later, as a program does that has an event channel.
        final ArrayDeque<Runnable> news = new ArrayDeque<>();
        final WorkCompletion wc = new WorkCompletion();
        ConnectionService.@Nullable BoundPort port;

        Host(World world) {
            device = world.addDevice();
            service = ConnectionService.of(device.context());
            domain = device.context().allocateProtectionDomain();
            cq = device.context().createCompletionQueue(4_096);
        }

        Gid address() {
            return device.context().gids(1).getFirst().gid();
        }
    }

    private final List<Host> hosts = new ArrayList<>();
    private long made;
    private long spoken;
    private long failed;

    private void world(long seed) {
        var world = new World(seed);
        try {
            hosts.clear();
            var ends = new ArrayList<ConnectionEnd>();
            for (int i = 0; i < 4; i++) {
                listen(world, ends);
            }
            double bad = world.random().nextDouble();
            world.faults(NetworkFaults.of(0.12 * bad, 0.1 * bad, 0.01)
                    .withReorder(0.2, 8)
                    .withJitter(2_000_000));
            for (int number = 0; number < CYCLES; number++) {
                connect(world, number, ends);
                run(world, world.random().nextLong(400_000_000));
            }
            world.faults(NetworkFaults.NONE);
            for (int i = 0; i < 120 && ends.stream().anyMatch(end -> end.step != Step.ENDED); i++) {
                run(world, SECOND);
                if (i == 20) { // an end that is still connected has nothing to say any more
                    ends.stream().filter(end -> end.step != Step.ENDED).forEach(ConnectionsTest::disconnect);
                }
            }
            run(world, 10 * SECOND);
            close(ends);
            hosts.forEach(ConnectionsTest::close);
        } catch (RuntimeException | AssertionError e) {
            throw Goal.failure(world, e, ConnectionsTest.class);
        }
    }

    /// One more host, which takes connections at the port.
    private void listen(World world, List<ConnectionEnd> ends) {
        var host = new Host(world);
        hosts.add(host);
        host.port = host.service.bind(PortSpace.TCP, host.address(), PORT);
        host.port.listen(32, Secret.NONE, (exchange, peer, _) -> {
            int number = ByteBuffer.wrap(peer.privateData().bytes()).getInt();
            var passive = new ConnectionEnd[1];
            host.news.add(() -> {
                passive[0] = new ConnectionEnd(host, number, false);
                passive[0].exchange = exchange;
                ends.add(passive[0]);
                if (world.random().nextInt(20) == 0) {
                    exchange.reject(PrivateData.NONE);
                    passive[0].step = Step.ENDED;
                    passive[0].ends++;
                    return;
                }
                try {
                    passive[0].ready();
                    exchange.accept(passive[0].end);
                } catch (InvalidStateException _) {
                    // the peer has given up meanwhile: that is told
                }
            });
            return (_, news) -> host.news.add(() -> on(passive[0], news));
        });
    }

    /// Each has ended, and was told so once.
    private static void close(List<ConnectionEnd> ends) {
        for (ConnectionEnd end : ends) {
            assertThat(end.ends).as("ends of connection %d", end.number).isEqualTo(1);
            end.close();
        }
        ends.clear();
    }

    /// Throws when anything was left on it.
    private static void close(Host host) {
        Objects.requireNonNull(host.port).close();
        assertThat(host.byQpn).isEmpty();
        host.cq.close();
        host.domain.close();
        host.device.context().close();
    }

    private static boolean speaksFirst(int number) {
        return number % 2 == 0; // of even numbers the passive end
    }

    private void connect(World world, int number, List<ConnectionEnd> ends) {
        Host from = hosts.get(world.random().nextInt(hosts.size()));
        Host to = hosts.get(world.random().nextInt(hosts.size()));
        var end = new ConnectionEnd(from, number, true);
        ends.add(end);
        var call = new ConnectionService.Route(
                PortSpace.TCP,
                from.address(),
                50_000,
                to.address(),
                world.random().nextInt(20) == 0 ? 1 : PORT);
        end.exchange = from.service.connect(call, end.end, (_, news) -> from.news.add(() -> on(end, news)));
    }

    private void on(@Nullable ConnectionEnd end, News news) {
        if (end == null) {
            return;
        }
        switch (news) {
            case News.Accepted accepted -> {
                assertThat(ByteBuffer.wrap(accepted.peer().privateData().bytes())
                                .getInt())
                        .isEqualTo(end.number);
                try {
                    end.ready();
                    end.exchange().ready();
                } catch (InvalidStateException _) {
                    // the peer has ended it meanwhile: that is told
                }
            }
            case News.Established _ -> {
                made++;
                if (end.step == Step.MAKING) {
                    end.step = Step.USED;
                }
                if (speaksFirst(end.number) != end.isActive) {
                    end.speak();
                }
            }
            case News.Rejected _, News.Unreachable _, News.Disconnected _ -> {
                end.ends++;
                failed += end.heard ? 0 : 1;
                end.step = Step.ENDED;
            }
            case News.TimewaitExit _ -> assertThat(end.step).isEqualTo(Step.ENDED);
        }
    }

    private static void disconnect(ConnectionEnd end) {
        end.exchange().disconnect(PrivateData.NONE);
    }

    private void run(World world, long nanos) {
        long until = world.nowNanos() + nanos;
        world.stepAfter(nanos);
        while (world.nowNanos() < until && world.step()) {
            boolean any;
            do {
                any = false;
                for (Host host : hosts) {
                    while (host.device.poll(host.cq, host.wc)) {
                        completed(host, world);
                        any = true;
                    }
                    for (Runnable next = host.news.poll(); next != null; next = host.news.poll()) {
                        next.run();
                        any = true;
                    }
                }
            } while (any);
        }
    }

    private void completed(Host host, World world) {
        ConnectionEnd end = host.byQpn.get(host.wc.qpn());
        if (end == null || !host.wc.ok() || host.wc.opcode() != WcOpcode.RECV) {
            return; // flushed, or sent
        }
        assertThat(end.memory.segment().get(ValueLayout.JAVA_INT, MESSAGE_BYTES))
                .as("the end that gets the message")
                .isEqualTo(end.number);
        end.heard = true;
        spoken++;
        if (speaksFirst(end.number) == end.isActive) {
            end.speak(); // the answer
        } else if (world.random().nextInt(4) != 0) {
            disconnect(end);
        }
    }

    @Test
    void connectionsOfDevicesComeAndGoOnABadNetwork() {
        long start = System.nanoTime();
        for (long seed = Goal.seed(); seed < Goal.seed() + SEEDS; seed++) {
            world(seed);
        }
        assertThat(made).isGreaterThan(SEEDS * CYCLES);
        Goal.report(
                "N2",
                start,
                "%,d seeds of 4 devices: %,d ends connected, %,d messages, %,d ends that ended without one"
                        .formatted(SEEDS, made, spoken, failed));
    }

    /// Goal F5: what comes and goes leaves nothing behind.
    @Test
    void connectionsThatComeAndGoLeaveNothingBehind() {
        long start = System.nanoTime();
        int cycles = (int) Goal.size(20_000, 1_000_000);
        var world = new World(Goal.seed());
        var ends = new ArrayList<ConnectionEnd>();
        hosts.clear();
        listen(world, ends);
        listen(world, ends);
        cycle(world, ends, 0, WARM_UP);
        long before = heapBytes();
        cycle(world, ends, WARM_UP, cycles);
        long grown = heapBytes() - before;
        hosts.forEach(ConnectionsTest::close);
        Goal.report(
                "F5",
                start,
                "%,d connections made, used and closed in virtual time: heap %+,d bytes".formatted(cycles, grown));
        assertThat(grown).as("bytes of heap").isLessThan((4L << 20) * Math.max(1, cycles / 100_000));
    }

    private void cycle(World world, List<ConnectionEnd> ends, int from, int count) {
        for (int number = from; number < from + count; number++) {
            connect(world, number, ends);
            run(world, SECOND / 2);
            ends.stream().filter(end -> end.step != Step.ENDED).forEach(ConnectionsTest::disconnect);
            run(world, SECOND / 2);
            close(ends);
        }
    }

    private static long heapBytes() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) { // what is referred to weakly takes more than one collection to go
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }
}
