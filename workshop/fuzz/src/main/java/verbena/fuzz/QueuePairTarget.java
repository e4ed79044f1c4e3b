package verbena.fuzz;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.transport.EngineCounters;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.Path;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.transport.rc.ReliableConnection;
import verbena.transport.rc.XrcInitiator;
import verbena.transport.rc.XrcQueue;
import verbena.transport.rc.XrcTarget;
import verbena.transport.unreliable.UnreliableConnection;
import verbena.transport.unreliable.UnreliableDatagram;
import verbena.verbs.Access;
import verbena.verbs.Gid;
import verbena.verbs.QpState;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;
import verbena.wire.Frame;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Transport;

/// A queue pair of each kind, whose peer is an attacker. The input is a program of packets, posts, time and changes
/// of state. Nothing is thrown, no byte changes that must not, each request completes once and in order, and nothing
/// runs for ever.
final class QueuePairTarget {
    private static final Gid HERE = Gid.parse("10.0.0.1");
    private static final Gid THERE = Gid.parse("10.0.0.2");
    private static final int DOMAIN = 1;
    private static final int DEPTH = 8;
    static final int MTU = 256;
    static final int QKEY = 0x1122_3344;
    /// Packets of the attacker are after these PSNs.
    static final int THEIR_PSN = 0xFF_FFFE;

    static final int OUR_PSN = 0xFF_FFFC;
    private static final int STEPS_MAX = 300;
    private static final int PACKETS_MAX = 1_000;
    private static final Transport[] TRANSPORTS = {Transport.RC, Transport.RC, Transport.UC, Transport.UD};
    /// Bits of an input's first byte that make a reliable connection an end of XRC.
    private static final int EXTENDED = 0xC0;

    static final int SRQ = 77;
    private static final int SRQ_OF_ANOTHER_DOMAIN = 78;
    private static final SendOperation[] CONNECTED = {
        SendOperation.SEND,
        SendOperation.SEND_WITH_IMMEDIATE,
        SendOperation.WRITE,
        SendOperation.WRITE_WITH_IMMEDIATE,
        SendOperation.BIND_WINDOW,
        SendOperation.LOCAL_INVALIDATE,
        SendOperation.SEND_WITH_INVALIDATE,
        SendOperation.READ,
        SendOperation.FETCH_ADD,
        SendOperation.COMPARE_SWAP,
        SendOperation.ATOMIC_WRITE,
        SendOperation.FLUSH
    };
    /// The number of those operations that an unreliable connection carries too.
    private static final int UNRELIABLE = 6;
    /// The number of those operations that an initiator of XRC sends.
    private static final int OF_XRC = 10;

    private static final Frame[] FRAMES = Frame.allocate(Arena.global().allocate(2L * Frame.SLOT_BYTES, 64));
    private static final MemorySegment SLAB = Arena.global().allocate(1 << 16, 64);
    private static final Canary CANARY = new Canary();

    private final Input in;
    private final Transport transport;
    /// Sends only, or receives only.
    private final boolean isInitiator;

    private final boolean isTarget;
    private final MemoryTable memory = new MemoryTable(new SplittableRandom(1), 100, () -> 0);
    private final QueuePairParameters parameters = new QueuePairParameters(0x17);
    private final SendQueue sends;
    private final ReceiveQueue receives = new ReceiveQueue(DEPTH, 2, () -> {});
    private final CompletionRing completions = new CompletionRing(64, new NoListener());
    private final XrcQueue queue = new XrcQueue(SRQ, 1, DOMAIN, receives, completions);
    private final XrcQueue other = new XrcQueue(SRQ_OF_ANOTHER_DOMAIN, 2, DOMAIN, receives, completions);
    private final QueuePairProtocol protocol;
    private final AttackerPackets packets;
    private final Region writable;
    private final Region readable;
    private final Region local;
    private final Window window = new Window(DOMAIN, 2);
    private final WorkCompletion wc = new WorkCompletion();
    private long sendsPosted;
    private long sendsDone;
    private long receivesPosted;
    private long receivesDone;
    private long now = 1_000;

    private QueuePairTarget(Input in) {
        this.in = in;
        int choices = in.u8();
        boolean isExtended = (choices & EXTENDED) == EXTENDED && (choices & 3) < 2;
        transport = isExtended ? Transport.XRC : TRANSPORTS[choices & 3];
        isInitiator = isExtended && (choices & 1) == 0;
        isTarget = isExtended && !isInitiator;
        CANARY.restore();
        Set<Access> none = EnumSet.noneOf(Access.class);
        writable = region(
                1,
                EnumSet.of(
                        Access.LOCAL_WRITE,
                        Access.REMOTE_WRITE,
                        Access.REMOTE_ATOMIC,
                        Access.FLUSH_GLOBAL,
                        Access.MW_BIND));
        readable = region(2, EnumSet.of(Access.REMOTE_READ));
        local = region(3, EnumSet.of(Access.LOCAL_WRITE));
        Region _ = region(4, none);
        memory.add(window);
        // Of the slab, as the queue takes it anew for each input.
        var slab = SegmentAllocator.slicingAllocator(SLAB);
        sends = new SendQueue(DEPTH, 2, 64, slab);
        parameters.protectionDomain = DOMAIN;
        parameters.pathMtu = MTU;
        parameters.qkey = QKEY;
        parameters.destinationQpn = 0x99;
        parameters.rqPsn = THEIR_PSN;
        parameters.sqPsn = OUR_PSN;
        parameters.access = (choices & 4) != 0
                ? Access.REMOTE_WRITE.bit()
                : Access.bits(
                        EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.FLUSH_GLOBAL));
        parameters.readsOutstandingMax = 2;
        parameters.readsServedMax = (choices & 8) != 0 ? 1 : 4;
        parameters.ackTimeoutNanos = 4_000_000;
        parameters.retryCount = 2;
        parameters.rnrRetry = 1;
        parameters.keepAliveNanos = (choices & 16) != 0 ? 3_000_000 : 0;
        parameters.path(HERE, THERE);
        boolean isTarget = transport == Transport.XRC && !isInitiator;
        var parts = new ProtocolParts(
                parameters,
                sends,
                isTarget ? new ReceiveQueue(0, 2, () -> {}) : receives,
                isTarget,
                (choices & 32) != 0,
                completions,
                completions,
                memory,
                new EngineCounters(),
                new NoEvents());
        protocol = switch (transport) {
            case UC -> new UnreliableConnection(parts);
            case UD -> new UnreliableDatagram(parts);
            case XRC -> isTarget ? new XrcTarget(parts, this::queue, 1) : new XrcInitiator(parts);
            default -> new ReliableConnection(parts);
        };
        packets = new AttackerPackets(in, FRAMES[0], transport, parameters.qpn, writable, readable, window);
        modify(QpState.INIT);
        modify(QpState.RTR);
        modify(QpState.RTS);
    }

    private @Nullable XrcQueue queue(int number) {
        return number == SRQ ? queue : number == SRQ_OF_ANOTHER_DOMAIN ? other : null;
    }

    private Region region(int part, Set<Access> access) {
        MemorySegment at = part == 2 ? CANARY.constant() : CANARY.part(part);
        var region = new Region(DOMAIN, at, 0x1000L * part, Access.bits(access));
        memory.add(region);
        return region;
    }

    static void run(byte[] data) {
        new QueuePairTarget(new Input(data)).run();
    }

    private void run() {
        for (int step = 0; step < STEPS_MAX && in.hasMore(); step++) {
            int what = in.u8();
            switch (what & 7) {
                case 0, 1, 2 -> deliver(packets.packet());
                case 3 -> postSend();
                case 4 -> postReceive();
                case 5 -> pass(in.u16() * 1_000L);
                case 6 -> change(what >>> 3);
                default -> deliver(packets.rawPacket());
            }
            drain();
        }
        finish();
    }

    // ---- what arrives

    private void deliver(@Nullable Frame frame) {
        if (frame == null) {
            return;
        }
        frame.sourceHigh = THERE.high();
        frame.sourceLow = THERE.low();
        frame.destinationHigh = HERE.high();
        frame.destinationLow = HERE.low();
        frame.icrcValid = true;
        Contract.holds(Packet.check(frame) == Malformed.OK, "the packet was made so that it passes the check");
        Contract.holds(protocol.onPacket(frame, Packet.opcode(frame), now) != null, "a packet without a fate");
    }

    // ---- what the application does

    private void postSend() {
        if (isTarget
                || !sends.hasRoom()
                || parameters.state == QpState.RESET
                || parameters.state == QpState.INIT
                || parameters.state == QpState.RTR) {
            return;
        }
        int choices = in.u8();
        SendOperation operation = switch (transport) {
            case UC -> CONNECTED[choices % UNRELIABLE];
            case UD -> CONNECTED[choices % 2];
            case XRC -> CONNECTED[choices % OF_XRC];
            default -> CONNECTED[choices % CONNECTED.length];
        };
        SendRequest request = sends.claim();
        request.begin(operation, sendsPosted++);
        request.localCause = "";
        request.srqNumber = SRQ;
        request.signaled = true;
        request.fenced = (choices & 0x40) != 0;
        request.solicited = (choices & 0x80) != 0;
        request.rkey = in.i32();
        request.remoteAddress = in.u16() & ~7;
        request.immediateOrKey = operation == SendOperation.LOCAL_INVALIDATE ? window.key() : in.u8();
        switch (operation) {
            case FLUSH -> {
                request.flushBytes = in.u16();
                request.flushPlacement = Feth.GLOBAL_VISIBILITY;
            }
            case ATOMIC_WRITE -> request.operand = in.i64();
            case LOCAL_INVALIDATE -> {}
            case BIND_WINDOW -> {
                request.window = window;
                request.windowRegion = writable;
                request.windowAddress = writable.iova() + in.u8();
                request.windowBytes = in.u16() % 512;
                request.windowAccess = Access.REMOTE_WRITE.bit();
                request.rkey = (window.key() & ~0xFF) | in.u8();
            }
            case FETCH_ADD, COMPARE_SWAP -> request.scatter.add(local.key(), local.iova(), 8);
            default -> {
                int bytes = transport == Transport.UD ? in.u8() : in.u16() % 800;
                request.scatter.add(local.key(), local.iova() + 16, bytes / 2);
                request.scatter.add(local.key(), local.iova() + 16 + bytes / 2, bytes - bytes / 2);
            }
        }
        if (transport == Transport.UD) {
            request.path = Path.of(HERE, THERE, 0, 64);
            request.destinationQpn = 0x99;
            request.qkey = QKEY;
        }
        sends.publish();
    }

    private void postReceive() {
        if (isInitiator || !receives.hasRoom()) {
            return;
        }
        ReceiveRequest request = receives.claim();
        request.wrId = 1_000_000 + receivesPosted++;
        request.scatter.clear();
        int bytes = in.u16() % 800;
        request.scatter.add(local.key(), local.iova() + 32, bytes);
        receives.publish();
    }

    private void pass(long nanos) {
        long until = now + nanos;
        for (int i = 0; i < PACKETS_MAX && protocol.deadlineNanos() <= until; i++) {
            now = Math.max(now, protocol.deadlineNanos());
            protocol.onDeadline(now);
            drain();
        }
        now = until;
    }

    private void change(int how) {
        switch (how & 7) {
            case 0 -> modify(QpState.ERR);
            case 1 -> {
                if (parameters.state == QpState.RTS && transport == Transport.RC) {
                    modify(QpState.SQD);
                }
            }
            case 2, 3 -> {
                if (parameters.state == QpState.SQD) {
                    modify(QpState.RTS);
                }
            }
            case 4 -> {
                memory.remove(writable);
                memory.add(writable);
            }
            case 5 -> {
                if (parameters.state == QpState.ERR) {
                    drain();
                    flushed();
                    modify(QpState.RESET);
                    modify(QpState.INIT);
                    modify(QpState.RTR);
                    modify(QpState.RTS);
                }
            }
            default -> {}
        }
    }

    private void modify(QpState to) {
        QpState from = parameters.state;
        parameters.state = to;
        protocol.onModified(from, to, now);
    }

    // ---- what comes of it

    private void drain() {
        Frame frame = FRAMES[1];
        int packets = 0;
        while (protocol.poll(frame, now)) {
            Contract.holds(++packets < PACKETS_MAX, "it sends for ever");
            Contract.equal(Malformed.OK, Packet.check(frame), "what it sends");
        }
        while (completions.poll(wc)) {
            if (wc.wrId() >= 1_000_000) {
                Contract.equal(1_000_000 + receivesDone++, wc.wrId(), "the next receive to complete");
            } else {
                Contract.equal(sendsDone++, wc.wrId(), "the next send to complete");
            }
        }
        Contract.holds(sendsDone <= sendsPosted && receivesDone <= receivesPosted, "more done than posted");
    }

    private void flushed() {
        Contract.equal(sendsPosted, sendsDone, "sends that are done in ERR");
        if (!isTarget) { // those of a shared queue stay
            Contract.equal(receivesPosted, receivesDone, "receives that are done in ERR");
        }
    }

    private void finish() {
        modify(QpState.ERR);
        drain();
        flushed();
        CANARY.check();
    }
}
