package verbena.nic.hostile;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.Link;
import verbena.nic.roce.LinkDevice;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.spi.ConnectionService;
import verbena.wire.ib.Transport;

/// A device with queue pairs that are connected to an attacker, and the application above it. The application
/// posts requests and receives, checks completions, and replaces connections that the attacker has broken.
///
/// It checks that each request completes once, in order, with a status that some arrival explains. A successful
/// request was sent to its last packet, and that was answered. The memory of a request does not change after its
/// completion.
///
/// All connections go to one address and share its window; three in four have a keep-alive, short or long.
final class Victim {
    private static final int CONNECTIONS = 32;
    /// How many requests, and how many receives, of a queue pair may be posted.
    private static final int DEPTH = 4;

    private static final int RECEIVE_BYTES = 2_600;
    private static final int RECEIVE_STRIDE = 3_001;
    private static final int READ_BYTES = 2 * 1_024 + 100;
    private static final int READ_STRIDE = 2_311;

    private static final List<Duration> KEEP_ALIVES =
            List.of(Duration.ZERO, Duration.ofNanos(200_000), Duration.ofMillis(2), Duration.ofMillis(20));
    private static final int LOOK_EVERY = 64;

    private static final int MIB = 1 << 20;
    private static final long IOVA = 0x10_0000_0000L;
    private static final long SEND = 1L << 40;
    private static final Set<Access> NONE = Set.of();

    /// The virtual time, in nanoseconds.
    long nanos = 1_000_000_000;

    final DeviceContext context;
    final CanaryArena canary;
    private final Attacker attacker;
    private final SplittableRandom chance;
    private final Gid attackersGid;
    private final CompletionQueue cq;
    private final List<Connection> connections = new ArrayList<>(CONNECTIONS);
    private final WorkCompletion wc = new WorkCompletion();
    private final CRC32 crc = new CRC32();
    private final MemoryRegion sendMemory;
    private final MemoryRegion receiveMemory;
    private final MemoryRegion readMemory;
    private final MemoryRegion windowMemory;
    private int turn;

    /// Completions by kind, and lives of queue pairs.
    long completed;
    /// How many events of connections came that the attacker has asked for.
    long managed;
    long failed;
    long lives;
    /// Whether the attacker hears every packet of the victim at once. Behind a socket it may miss some, and then
    /// it is unknown whether a request was sent to its last packet.
    boolean isHeardWhole = true;
    /// How many times the application worked, and how many of these times the window of all connections had no
    /// room.
    private long works;
    long full;

    /// One queue pair and its posted requests.
    private static final class Connection {
        final QueuePair qp;
        final Attacker.Target target;
        final Set<Access> access;
        final int number;
        long sendsPosted;
        long sendsDone;
        long receivesPosted;
        long receivesDone;
        boolean broken;
        /// How many requests of this life have completed that had to be sent.
        long done;
        /// The contents of the places of READs and receives when their last request had completed.
        final long[] readSums = new long[DEPTH];
        final long[] receiveSums = new long[DEPTH];
        final int[] receiveBytes = new int[DEPTH];
        /// The kind of request at each place: `r` READ, `a` atomic, `b` bind, `s` all others.
        final char[] kinds = new char[DEPTH];
        MemoryWindow window;

        Connection(QueuePair qp, Attacker.Target target, Set<Access> access) {
            this.qp = qp;
            this.target = target;
            this.access = access;
            this.number = target.index;
        }

        long place(long sequence) {
            return (long) number * DEPTH + sequence % DEPTH;
        }
    }

    Victim(Link link, Attacker attacker, Gid attackersGid, long seed, Arena arena) {
        this.attacker = attacker;
        this.attackersGid = attackersGid;
        this.chance = new SplittableRandom(seed);
        this.canary = new CanaryArena(arena);
        context = (DeviceContext) LinkDevice.open(
                "victim", List.of(link), () -> nanos, new Random(seed), CongestionRule.NONE, seed % 2 == 0, null);
        cq = context.createCompletionQueue(4_096);
        ProtectionDomain ours = context.allocateProtectionDomain();
        ProtectionDomain others = context.allocateProtectionDomain();

        canary.slice(40 * MIB + 333, 20_000).fill((byte) 0x33);
        Set<Access> write = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.FLUSH_GLOBAL);
        tell(ours.register(canary.open(MIB + 13, 10_007), IOVA + 13, write), write);
        // With every other seed some regions are on demand, which must make no difference to the attacker.
        Set<Access> some = EnumSet.noneOf(Access.class);
        if (seed % 2 != 0) {
            some.add(Access.ON_DEMAND);
        }
        tell(ours.register(canary.open(4 * MIB + 77, 70_001), -70_001 - 4_096, with(write, some)), write);
        tell(ours.register(canary.open(7 * MIB + 1, 1), 3 * IOVA + 1, write), write);
        Set<Access> atomic = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC);
        tell(ours.register(canary.open(10 * MIB, 4_096), 4 * IOVA, with(atomic, some)), atomic);
        tell(ours.register(canary.open(13 * MIB + 5, 803), 5 * IOVA, atomic), atomic);
        windowMemory =
                ours.register(canary.slice(16 * MIB, 30_000), 6 * IOVA, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND));
        canary.open(16 * MIB + 1_003, 5_000);
        receiveMemory = ours.register(
                canary.slice(20 * MIB, (long) CONNECTIONS * DEPTH * RECEIVE_STRIDE),
                7 * IOVA,
                EnumSet.of(Access.LOCAL_WRITE));
        for (int i = 0; i < CONNECTIONS * DEPTH; i++) {
            canary.open(20 * MIB + (long) i * RECEIVE_STRIDE, RECEIVE_BYTES);
        }
        readMemory = ours.register(
                canary.slice(30 * MIB, (long) CONNECTIONS * DEPTH * READ_STRIDE),
                8 * IOVA,
                EnumSet.of(Access.LOCAL_WRITE));
        for (int i = 0; i < CONNECTIONS * DEPTH; i++) {
            canary.open(30 * MIB + (long) i * READ_STRIDE, READ_BYTES);
        }
        // Bytes behind this must not change.
        Set<Access> read = EnumSet.of(Access.REMOTE_READ);
        tell(ours.register(canary.slice(40 * MIB + 333, 20_000), 9 * IOVA, with(read, some)), read);
        tell(ours.register(canary.slice(44 * MIB, 10_000), 10 * IOVA, Access.local()), NONE);
        tell(others.register(canary.slice(48 * MIB, 10_000), 11 * IOVA, Access.remoteAll()), NONE);
        MemoryRegion closed = ours.register(canary.slice(52 * MIB, 10_000), 12 * IOVA, Access.remoteAll());
        tell(closed, NONE);
        closed.close();
        tell(receiveMemory, NONE);
        tell(readMemory, NONE);
        sendMemory = ours.register(canary.slice(56 * MIB, 10_000), 13 * IOVA, Access.local());
        tell(sendMemory, NONE);

        for (int i = 0; i < CONNECTIONS; i++) {
            connections.add(make(i, ours, others));
        }
        Connection first = connections.getFirst();
        first.window = ours.allocateWindow(MemoryWindow.Type.TYPE_2);
        attacker.knows(first.window.rkey(), windowMemory.address() + 1_003, 5_000, NONE);
        attacker.aimAt(connections.stream().map(c -> c.target).toArray(Attacker.Target[]::new));
        QueuePair gone = ours.createQueuePair(QueuePairOptions.rc(cq));
        attacker.knowsClosed(gone.qpn());
        gone.close();
        takeConnections();
        canary.seal();
        connections.forEach(this::connect);
    }

    /// Accepts some connections, rejects some, and ignores some.
    private void takeConnections() {
        var answers = new SplittableRandom(1);
        var end = new ConnectionService.OwnSide(
                Optional.empty(), QpType.RC, 5, 0, false, ConnectionParameters.defaults());
        ConnectionService.of(context)
                .bind(PortSpace.TCP, context.gid(1, 0).gid(), Attacker.PORT)
                .listen(64, (exchange, peer, type) -> {
                    switch (answers.nextInt(3)) {
                        case 0 -> exchange.accept(end);
                        case 1 -> exchange.reject(PrivateData.NONE);
                        default -> {}
                    }
                    return (_, news) -> managed++;
                });
    }

    /// Makes one of 16 connections. One has no rights in a domain of its own, one may only read, two are
    /// unreliable. Two queue pairs are for datagrams, one of them in a multicast group.
    private Connection make(int number, ProtectionDomain ours, ProtectionDomain others) {
        Set<Access> access =
                EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.FLUSH_GLOBAL);
        ProtectionDomain domain = ours;
        QpType type = QpType.RC;
        switch (number % 16) {
            case 10, 11 -> type = QpType.UD;
            case 12, 13 -> type = QpType.UC;
            case 14 -> access = EnumSet.of(Access.REMOTE_READ);
            case 15 -> {
                access = NONE;
                domain = others;
            }
            default -> {}
        }
        QueuePair qp = domain.createQueuePair(QueuePairOptions.of(type, cq)
                .withDepth(2 * DEPTH, 2 * DEPTH)
                .withSge(2, 2)
                .withExtensions(EnumSet.of(Capability.FLUSH, Capability.ATOMIC_WRITE)));
        int mtu = type == QpType.UD ? 4_096 : new int[] {256, 512, 1_024, 256}[number % 4];
        var target = new Attacker.Target(number, Transport.valueOf(type.name()), mtu);
        target.qpn = qp.qpn();
        return new Connection(qp, target, access);
    }

    private static Set<Access> with(Set<Access> access, Set<Access> more) {
        var all = EnumSet.copyOf(access);
        all.addAll(more);
        return all;
    }

    private void tell(MemoryRegion region, Set<Access> rights) {
        attacker.knows(region.rkey(), region.address(), region.length(), rights);
    }

    private void connect(Connection c) {
        // Half of all begin shortly before PSNs wrap around.
        int psn = chance.nextInt(2) == 0 ? chance.nextInt(1 << 24) : (-1 - chance.nextInt(64)) & 0xFF_FFFF;
        c.target.reborn(psn);
        lives++;
        if (c.qp.type() == QpType.UD) {
            c.target.qkey = chance.nextInt();
            c.qp.modify(new Transition.ToInitUd(1, 0, c.target.qkey));
            c.qp.modify(new Transition.ToRtrUd());
            c.qp.modify(new Transition.ToRtsUnreliable(psn));
            if (c.number % 2 == 1 && !attackersGid.address().isLoopbackAddress()) {
                c.qp.attachMulticast(Attacker.GROUP);
            }
            return;
        }
        c.qp.connect(
                new Endpoint(attackersGid, GidType.ROCE_V2, c.target.peerQpn(), psn, Mtu.MTU_4096),
                EndpointOptions.defaults()
                        .withAccess(c.access)
                        .withMtu(Mtu.ofBytes(c.target.mtu))
                        .withRetries(AckTimeout.atLeast(Duration.ofMillis(4)), 3, 3)
                        .withMaxReadAtomic(3));
        c.broken = false;
        c.done = 0;
        if (c.qp.type() == QpType.RC) {
            context.keepAlive(c.qp, KEEP_ALIVES.get((c.number + 2) % KEEP_ALIVES.size()));
        }
        if (c.window != null && c.qp.state() == QpState.RTS) {
            bindWindow(c);
        }
    }

    private void bindWindow(Connection c) {
        MemoryWindow window = c.qp.protectionDomain().allocateWindow(MemoryWindow.Type.TYPE_2);
        c.window.close();
        c.window = window;
        int key = window.nextRkey();
        try (SendBatch batch = c.qp.sendBatch()) {
            post(c, 'b');
            batch.bindWindow(
                            sendId(c),
                            window,
                            key,
                            windowMemory,
                            windowMemory.address() + 1_003,
                            5_000,
                            EnumSet.of(Access.REMOTE_WRITE))
                    .signaled()
                    .submit();
        }
        attacker.knowsInstead(key);
    }

    // ---- the application

    /// A piece of the application's work.
    void work() {
        while (cq.poll(wc)) {
            complete();
        }
        if (++works % LOOK_EVERY == 0 && context.roomTo(attackersGid) <= 0) {
            full++;
        }
        while (context.pollAsyncEvent().isPresent()) {
            // events are ignored
        }
        for (Connection c : connections) {
            if (c.qp.state() != QpState.RTS) {
                if (c.qp.type() != QpType.RC) {
                    throw new AssertionError(c.qp.type() + " queue pair in " + c.qp.state());
                }
                if (c.sendsDone != c.sendsPosted || c.receivesDone != c.receivesPosted) {
                    throw new AssertionError("a queue pair in ERR keeps requests: " + c.sendsDone + " of "
                            + c.sendsPosted + " sends and " + c.receivesDone + " of " + c.receivesPosted
                            + " receives have completed");
                }
                c.qp.modify(new Transition.ToReset());
                connect(c);
            }
        }
        for (int i = 0; i < 4; i++) {
            Connection c = connections.get(turn++ % CONNECTIONS);
            if (c.access.isEmpty()) {
                continue; // in the other domain: the regions here do not belong to it
            }
            if (c.sendsPosted - c.sendsDone < DEPTH && c.qp.type() != QpType.UD) {
                postSend(c);
            }
            if (c.receivesPosted - c.receivesDone < DEPTH && chance.nextInt(8) > 0) {
                postReceive(c);
            }
        }
    }

    private long sendId(Connection c) {
        return SEND | (long) c.number << 32 | ((c.sendsPosted - 1) & 0xFFFF_FFFFL);
    }

    private void post(Connection c, char kind) {
        c.kinds[(int) (c.sendsPosted % DEPTH)] = kind;
        c.sendsPosted++;
    }

    private void postSend(Connection c) {
        long place = c.place(c.sendsPosted);
        checkUntouched(readMemory, place * READ_STRIDE, READ_BYTES, c.readSums, (int) (place % DEPTH));
        long at = place * READ_STRIDE;
        int bytes = chance.nextInt(8) == 0 ? 0 : chance.nextInt(READ_BYTES - 8);
        int first = chance.nextInt(bytes + 1);
        int rkey = chance.nextInt();
        int kind = c.qp.type() == QpType.RC ? chance.nextInt(8) : 6;
        try (SendBatch batch = c.qp.sendBatch()) {
            post(c, kind < 4 ? 'r' : kind == 4 ? 'a' : 's');
            long id = sendId(c);
            switch (kind) {
                case 0, 1, 2, 3 ->
                    batch.read(id, chance.nextLong(), rkey)
                            .sge(readMemory, at, first)
                            .sge(readMemory, at + first + 8, bytes - first);
                case 4 -> batch.fetchAdd(id, chance.nextLong() & ~7, rkey, 1).sge(readMemory, at, 8);
                case 5 -> batch.sendWithInvalidate(id, rkey).sge(sendMemory, 0, bytes);
                default -> batch.write(id, chance.nextLong(), rkey).sge(sendMemory, 0, bytes);
            }
            batch.signaled().submit();
        }
    }

    private void postReceive(Connection c) {
        long place = c.place(c.receivesPosted);
        checkUntouched(receiveMemory, place * RECEIVE_STRIDE, RECEIVE_BYTES, c.receiveSums, (int) (place % DEPTH));
        long at = place * RECEIVE_STRIDE;
        int bytes = chance.nextInt(32) == 0 ? 0 : chance.nextInt(RECEIVE_BYTES - 8);
        int first = chance.nextInt(bytes + 1);
        try (ReceiveBatch batch = c.qp.receiveBatch()) {
            batch.receive((long) c.number << 32 | (c.receivesPosted & 0xFFFF_FFFFL))
                    .sge(receiveMemory, at, first)
                    .sge(receiveMemory, at + first + 8, bytes - first)
                    .submit();
        }
        c.receiveBytes[(int) (place % DEPTH)] = bytes;
        c.receivesPosted++;
    }

    private void complete() {
        long id = wc.wrId();
        Connection c = connections.get((int) (id >>> 32) & 0xFF);
        boolean isSend = (id & SEND) != 0;
        long next = isSend ? c.sendsDone++ : c.receivesDone++;
        if ((next & 0xFFFF_FFFFL) != (id & 0xFFFF_FFFFL)) {
            throw new AssertionError("completion " + wc + " where request " + next + " was the oldest");
        }
        completed++;
        failed += wc.ok() ? 0 : 1;
        long place = c.place(next);
        if (isSend) {
            checkSend(c, c.kinds[(int) (next % DEPTH)]);
            c.readSums[(int) (next % DEPTH)] = sum(readMemory, place * READ_STRIDE, READ_BYTES);
        } else {
            checkReceive(c, c.receiveBytes[(int) (next % DEPTH)]);
            c.receiveSums[(int) (next % DEPTH)] = sum(receiveMemory, place * RECEIVE_STRIDE, RECEIVE_BYTES);
        }
    }

    private void checkSend(Connection c, char kind) {
        int given = c.target.given;
        boolean legal = switch (wc.status()) {
            case SUCCESS -> wasAnswered(c, kind);
            case REM_INV_REQ_ERR -> (given & 1 << 1) != 0;
            case REM_ACCESS_ERR -> (given & 1 << 2) != 0;
            case REM_OP_ERR -> (given & 1 << 3) != 0;
            case REM_INV_RD_REQ_ERR -> (given & 1 << 4) != 0;
            case BAD_RESP_ERR ->
                (given
                                & (1 << 5
                                        | Attacker.GIVEN_RESERVED
                                        | Attacker.GIVEN_READ_RESPONSE
                                        | Attacker.GIVEN_ATOMIC_ACKNOWLEDGE))
                        != 0;
            case RNR_RETRY_EXC_ERR -> (given & Attacker.GIVEN_RNR_NAK) != 0;
            case RETRY_EXC_ERR -> true; // time passes
            case WR_FLUSH_ERR -> c.broken || c.qp.state() == QpState.ERR;
            default -> false;
        };
        c.broken |= !wc.ok();
        if (!legal) {
            throw new AssertionError("no arrival explains " + wc);
        }
    }

    private boolean wasAnswered(Connection c, char kind) {
        if (isHeardWhole && kind != 'b' && c.qp.type() == QpType.RC && !c.target.explainsSuccess(c.done++)) {
            return false;
        }
        int answer = switch (kind) {
            case 'r' -> Attacker.GIVEN_READ_RESPONSE;
            case 'a' -> Attacker.GIVEN_ATOMIC_ACKNOWLEDGE;
            default -> Attacker.GIVEN_ANSWER;
        };
        // A bind needs no answer, and unreliable requests get none.
        return (c.target.given & answer) != 0 || kind == 'b' || c.qp.type() == QpType.UC;
    }

    private void checkReceive(Connection c, int posted) {
        boolean legal = switch (wc.status()) {
            case SUCCESS -> wc.opcode() != WcOpcode.RECV || wc.byteLength() <= posted;
            case LOC_LEN_ERR, REM_INV_REQ_ERR, LOC_ACCESS_ERR -> true;
            case WR_FLUSH_ERR -> c.qp.state() == QpState.ERR;
            default -> false;
        };
        if (!legal) {
            throw new AssertionError("no arrival explains " + wc);
        }
    }

    private void checkUntouched(MemoryRegion region, long offset, int bytes, long[] sums, int place) {
        if (sums[place] != 0 && sums[place] != sum(region, offset, bytes)) {
            throw new AssertionError("memory of a request changed after its completion");
        }
    }

    private long sum(MemoryRegion region, long offset, int bytes) {
        MemorySegment memory = region.segment().asSlice(offset, bytes);
        crc.reset();
        crc.update(memory.asByteBuffer());
        return 1L << 32 | crc.getValue();
    }
}
