package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
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
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// A crowd of connections between two devices: some keep the window that they all share full, so that the others
/// wait for room for longer than their keep-alive is. Nothing is lost, but that a peer stops to answer. Whatever
/// succeeds has arrived whole, each request completes once and in order, and both devices go on working.
class CrowdTest {
    private static final long SEEDS = Goal.size(6, 500);
    private static final int PORT = 7_471;
    private static final long MILLISECOND = 1_000_000;
    private static final long SECOND = 1_000_000_000;
    private static final int MESSAGE_BYTES = 16 << 10;
    private static final int TAPE_BYTES = 1 << 16;
    private static final int FILLERS = 60;
    private static final int FILLER_WRITES = 4;
    private static final int PATIENTS = 100;
    private static final int ROUNDS = 4;
    /// While others wait, fillers go on for so many.
    private static final int FILL_ROUNDS = 40;
    /// Connections that are made at once.
    private static final int BACKLOG = 64;
    private static final Duration KEEP_ALIVE = Duration.ofMillis(200);
    /// Longer than any silence here, so that nothing is sent again for want of an answer.
    private static final AckTimeout ACK_TIMEOUT = AckTimeout.atLeast(Duration.ofSeconds(8));
    /// Where the peer is to be given up.
    private static final AckTimeout SHORT_ACK_TIMEOUT = AckTimeout.atLeast(Duration.ofMillis(30));

    /// What a connection does again and again.
    private enum Kind {
        /// Keeps the window full with WRITEs of one packet, without a keep-alive.
        FILL,
        READ,
        WRITE,
        SEND
    }

    /// One connection: its requests go from the client to the server.
    private static final class Member {
        final int number;
        final Kind kind;
        final MemoryRegion own;
        QueuePair client;
        QueuePair server;
        MemoryRegion peers;
        /// Where on the tape the data of the present round stands.
        int place;
        long posted;
        long completed;
        /// When it began to converse.
        long from;
        long received;

        Member(int number, Kind kind, MemoryRegion own) {
            this.number = number;
            this.kind = kind;
            this.own = own;
        }
    }

    /// Two devices and their programs.
    private static final class Crowd {
        final World world;
        private final SimDevice here;
        private final SimDevice there;
        private final EventChannel clients;
        private final EventChannel servers;
        private final ProtectionDomain hereDomain;
        private final ProtectionDomain thereDomain;
        private final CompletionQueue hereQueue;
        private final CompletionQueue thereQueue;
        private final MemoryRegion tape;
        private final List<Member> members = new ArrayList<>();
        private final List<ConnectionId> ids = new ArrayList<>();
        private final Map<ConnectionId, Member> byId = new HashMap<>();
        private final Map<Integer, Member> byClientQpn = new HashMap<>();
        private final Map<Integer, Member> byServerQpn = new HashMap<>();
        private final WorkCompletion wc = new WorkCompletion();
        private final AckTimeout ackTimeout;
        private int established;
        /// The peer does not answer any more: connections end, and their requests with them.
        private boolean isGivenUp;
        private long failed;

        Crowd(long seed, AckTimeout ackTimeout) {
            this.ackTimeout = ackTimeout;
            world = new World(seed);
            here = world.addDevice();
            there = world.addDevice();
            clients = EventChannel.open(here.context());
            servers = EventChannel.open(there.context());
            hereDomain = here.context().allocateProtectionDomain();
            thereDomain = there.context().allocateProtectionDomain();
            hereQueue = here.context().createCompletionQueue(4_096);
            thereQueue = there.context().createCompletionQueue(4_096);
            tape = there.register(thereDomain, TAPE_BYTES, Access.remoteRead());
            for (long i = 0; i < TAPE_BYTES; i += Long.BYTES) {
                tape.segment().set(ValueLayout.JAVA_LONG, i, world.random().nextLong());
            }
        }

        /// Connects one more of each kind given, a filler after each of the others for as long as there are
        /// some.
        void connect(Kind... kinds) {
            for (int i = 0; i < FILLERS + PATIENTS; i++) {
                Kind kind = i % 2 == 0 && i / 2 < FILLERS ? Kind.FILL : kinds[i % kinds.length];
                members.add(new Member(i, kind, here.register(hereDomain, MESSAGE_BYTES, Access.local())));
            }
            ConnectionId listener = servers.createId(PortSpace.TCP);
            ids.add(listener);
            var address = new InetSocketAddress(
                    there.context().gids(1).getFirst().gid().address(), PORT);
            listener.bind(address);
            listener.listen(BACKLOG);
            for (int i = 0; i < members.size(); i++) {
                ConnectionId id = clients.createId(PortSpace.TCP);
                ids.add(id);
                byId.put(id, members.get(i));
                id.resolveAddress(address);
                int made = i + 1;
                if (made % BACKLOG == 0 || made == members.size()) {
                    assertThat(run(() -> established == made, SECOND))
                            .as("%d are connected", made)
                            .isTrue();
                }
            }
        }

        private void look() {
            for (var event = servers.poll(); event.isPresent(); event = servers.poll()) {
                if (event.get() instanceof ConnectionEvent.ConnectRequest request) {
                    accept(request);
                }
            }
            for (var event = clients.poll(); event.isPresent(); event = clients.poll()) {
                ConnectionId id = event.get().id();
                Member member = byId.get(id);
                switch (event.get()) {
                    case ConnectionEvent.AddressResolved _ -> id.resolveRoute();
                    case ConnectionEvent.RouteResolved _ -> {
                        member.client = id.createQueuePair(hereDomain, options(hereQueue));
                        byClientQpn.put(member.client.qpn(), member);
                        byte[] number = ByteBuffer.allocate(Integer.BYTES)
                                .putInt(member.number)
                                .array();
                        id.connect(ConnectionParameters.defaults()
                                .withPrivateData(PrivateData.of(number))
                                .withRetries(ackTimeout, 7, 7)
                                .withKeepAlive(member.kind == Kind.FILL ? Duration.ZERO : KEEP_ALIVE));
                    }
                    case ConnectionEvent.Established _ -> established++;
                    case ConnectionEvent.Disconnected _ when isGivenUp -> {}
                    default ->
                        assertThat(event.get()).as("member %d", member.number).isNull();
                }
            }
        }

        private void accept(ConnectionEvent.ConnectRequest request) {
            int number = ByteBuffer.wrap(request.peer().privateData().bytes()).getInt();
            Member member = members.get(number);
            member.server = request.id().createQueuePair(thereDomain, options(thereQueue));
            member.peers =
                    there.register(thereDomain, MESSAGE_BYTES, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
            byServerQpn.put(member.server.qpn(), member);
            ids.add(request.id());
            request.id().accept(ConnectionParameters.defaults());
        }

        private static QueuePairOptions options(CompletionQueue queue) {
            return QueuePairOptions.rc(queue).withDepth(FILLER_WRITES, FILLER_WRITES);
        }

        // ---- what they do

        void begin(Member member) {
            member.place = world.random().nextInt((TAPE_BYTES - MESSAGE_BYTES) / Long.BYTES) * Long.BYTES;
            MemorySegment memory = member.own.segment();
            switch (member.kind) {
                case FILL -> {
                    for (int i = 0; i < FILLER_WRITES; i++) {
                        member.client.postWrite(member.posted++, member.own.slice(0, 4_096), member.peers.remote());
                    }
                }
                case READ -> {
                    memory.fill((byte) 0xC5);
                    member.client.postRead(
                            member.posted++,
                            tape.remote().slice(member.place, MESSAGE_BYTES),
                            member.own.slice(0, MESSAGE_BYTES));
                }
                case WRITE -> {
                    draw(member);
                    member.client.postWrite(member.posted++, member.own.slice(0, MESSAGE_BYTES), member.peers.remote());
                }
                case SEND -> {
                    draw(member);
                    member.server.postReceive(member.posted, member.peers.slice(0, MESSAGE_BYTES));
                    member.client.postSend(member.posted++, member.own.slice(0, MESSAGE_BYTES));
                }
            }
        }

        private void draw(Member member) {
            member.peers.segment().fill((byte) 0xC5);
            MemorySegment.copy(tape.segment(), member.place, member.own.segment(), 0, MESSAGE_BYTES);
        }

        private void poll(boolean again) {
            while (there.poll(thereQueue, wc)) {
                Member member = byServerQpn.get(wc.qpn());
                assertThat(wc.ok() || isGivenUp)
                        .as("%s of member %d", wc, member.number)
                        .isTrue();
                if (wc.ok() && wc.opcode() == WcOpcode.RECV) {
                    assertThat(wc.wrId()).isEqualTo(member.received++);
                    assertThat(wc.byteLength()).isEqualTo(MESSAGE_BYTES);
                }
            }
            while (here.poll(hereQueue, wc)) {
                Member member = byClientQpn.get(wc.qpn());
                String of = "%s of member %d (%s)".formatted(wc, member.number, member.kind);
                boolean mayFail =
                        isGivenUp && (wc.status() == WcStatus.RETRY_EXC_ERR || wc.status() == WcStatus.WR_FLUSH_ERR);
                assertThat(wc.ok() || mayFail).as(of).isTrue();
                assertThat(wc.wrId()).as(of).isEqualTo(member.completed++);
                if (!wc.ok()) {
                    failed++;
                    continue;
                }
                if (again) { // otherwise nothing changes any more: it is compared at the end
                    check(member, of);
                }
                long most = member.kind == Kind.FILL ? (long) FILL_ROUNDS * FILLER_WRITES : ROUNDS;
                if (again && member.posted == member.completed && member.posted - member.from < most) {
                    begin(member);
                }
            }
        }

        private void check(Member member, String of) {
            MemorySegment memory = switch (member.kind) {
                case FILL -> MemorySegment.NULL;
                case READ -> member.own.segment();
                case WRITE, SEND -> member.peers.segment();
            };
            long mismatch = MemorySegment.mismatch(
                    memory, 0, memory.byteSize(), tape.segment(), member.place, member.place + memory.byteSize());
            assertThat(mismatch).as("first wrong byte after " + of).isEqualTo(-1);
            if (member.kind == Kind.SEND) {
                assertThat(member.received).as("received before " + of).isEqualTo(member.completed);
            }
        }

        /// Posts on every connection and goes on with each until so many rounds are done; then all is to drain.
        void converse(int rounds, Runnable everyRound) {
            members.forEach(member -> member.from = member.completed);
            members.forEach(this::begin);
            for (long round = 1; round <= rounds; round++) {
                everyRound.run();
                long until = round;
                boolean done = run(
                        () -> {
                            poll(until < rounds);
                            return members.stream()
                                    .allMatch(member -> member.completed - member.from >= until * perRound(member));
                        },
                        120 * SECOND);
                assertThat(done).as("round %d is done", round).isTrue();
            }
            boolean drained = run(
                    () -> {
                        poll(false);
                        return members.stream().allMatch(member -> member.completed == member.posted);
                    },
                    120 * SECOND);
            assertThat(drained).as("all is done").isTrue();
            // Late packets, and the silence after them: no peer is taken for dead.
            boolean endless = run(
                    () -> {
                        poll(false);
                        return false;
                    },
                    2 * SECOND);
            assertThat(endless).isFalse();
            members.forEach(member -> check(member, "the last of member " + member.number));
        }

        /// Posts on every connection, and has no answer any more.
        void converseInVain() {
            isGivenUp = true;
            there.mute(3_600 * SECOND);
            members.forEach(this::begin);
            boolean ended = run(
                    () -> {
                        poll(false);
                        return members.stream().allMatch(member -> member.completed == member.posted);
                    },
                    120 * SECOND);
            assertThat(ended).as("every request has ended").isTrue();
            assertThat(members).as("every connection").allMatch(member -> member.client.state() == QpState.ERR);
        }

        private static long perRound(Member member) {
            return member.kind == Kind.FILL ? FILLER_WRITES : 1;
        }

        private boolean run(BooleanSupplier done, long nanos) {
            world.stepAfter(nanos);
            return world.runUntil(
                    () -> {
                        look();
                        return done.getAsBoolean();
                    },
                    nanos);
        }

        long count(String counter) {
            return here.context().counters().get(counter);
        }

        /// Throws when anything was left on it.
        void close() {
            ids.forEach(ConnectionId::close);
            members.forEach(member -> {
                member.own.close();
                member.peers.close();
            });
            tape.close();
            List.of(hereQueue, thereQueue).forEach(CompletionQueue::close);
            List.of(hereDomain, thereDomain).forEach(ProtectionDomain::close);
            clients.close();
            servers.close();
            here.context().close();
            there.context().close();
        }
    }

    private interface Script {
        void run(Crowd crowd);
    }

    private static void worlds(String what, Script script, Kind... kinds) {
        worlds(what, ACK_TIMEOUT, script, kinds);
    }

    private static void worlds(String what, AckTimeout ackTimeout, Script script, Kind... kinds) {
        long start = System.nanoTime();
        long keepAlives = 0;
        long packets = 0;
        long probes = 0;
        for (long seed = Goal.seed(); seed < Goal.seed() + SEEDS; seed++) {
            var crowd = new Crowd(seed, ackTimeout);
            try {
                crowd.connect(kinds);
                script.run(crowd);
                keepAlives += crowd.count("keep.alives");
                probes += crowd.count("probes");
                packets += crowd.world.network().sent();
                crowd.close();
            } catch (RuntimeException | AssertionError e) {
                throw Goal.failure(crowd.world, e, CrowdTest.class);
            }
        }
        assertThat(keepAlives).isPositive();
        Goal.report(
                "N3",
                start,
                "%,d crowds of %d connections, %s: %,d packets, %,d keep-alives, %,d probes"
                        .formatted(SEEDS, FILLERS + PATIENTS, what, packets, keepAlives, probes));
    }

    /// Before a round trip is known no probe frees the window: all wait for as long as the peer says nothing.
    @Test
    void whoeverWaitsForASilentPeerIsServedWhole() {
        worlds(
                "a peer that pauses",
                crowd -> crowd.converse(
                        ROUNDS,
                        () -> crowd.there.pause(
                                100 * MILLISECOND + crowd.world.random().nextLong(SECOND))),
                Kind.READ,
                Kind.WRITE,
                Kind.SEND);
    }

    /// Requests arrive, acknowledgements do not: what became of them is asked, and nothing is done twice.
    @Test
    void whatAPeerDoesNotAcknowledgeForAWhileCompletesLater() {
        worlds(
                "a peer that stops to acknowledge for a while",
                crowd -> {
                    crowd.converse(1, () -> {});
                    crowd.converse(
                            ROUNDS,
                            () -> crowd.there.mute(
                                    10 * MILLISECOND + crowd.world.random().nextLong(SECOND)));
                    assertThat(crowd.count("probes")).isPositive();
                    assertThat(crowd.count("ack.timeouts"))
                            .as("probes find out first")
                            .isZero();
                },
                Kind.READ,
                Kind.WRITE,
                Kind.SEND);
    }

    @Test
    void whatAPeerNeverAcknowledgesFailsOnceAndInOrder() {
        worlds(
                "a peer that stops to acknowledge for ever",
                SHORT_ACK_TIMEOUT,
                crowd -> {
                    crowd.converse(1, () -> {});
                    crowd.converseInVain();
                    assertThat(crowd.failed).isEqualTo(FILLERS * FILLER_WRITES + PATIENTS);
                },
                Kind.READ,
                Kind.WRITE,
                Kind.SEND);
    }

    /// Each has one request only, so that no later one stands where a stray answer could fit.
    @Test
    void bothDevicesGoOnWorking() {
        worlds(
                "a peer that pauses, one request each",
                crowd -> {
                    crowd.there.pause(SECOND / 2);
                    crowd.converse(1, () -> {});
                },
                Kind.READ);
    }

    @Test
    void readsBehindAFullWindowToASlowPeerAreWhole() {
        worlds(
                "a slow peer",
                crowd -> {
                    crowd.there.slow(
                            4_096, 2 * MILLISECOND + crowd.world.random().nextLong(4 * MILLISECOND));
                    crowd.converse(ROUNDS, () -> {});
                },
                Kind.READ);
    }

    @Test
    void writesAndSendsBehindAFullWindowToASlowPeerCompleteWithTheirLastPacket() {
        worlds(
                "a slow peer",
                crowd -> {
                    crowd.there.slow(
                            4_096, 2 * MILLISECOND + crowd.world.random().nextLong(4 * MILLISECOND));
                    crowd.converse(ROUNDS, () -> {});
                },
                Kind.WRITE,
                Kind.SEND);
    }
}
