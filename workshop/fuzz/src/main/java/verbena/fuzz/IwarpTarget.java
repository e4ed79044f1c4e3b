package verbena.fuzz;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import verbena.transport.EngineCounters;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairParameters;
import verbena.transport.iwarp.IwarpConnection;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.ImmediateData;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;

/// A connection of iWARP whose peer makes the input: a program of FPDUs and bytes, which arrive cut anywhere, and
/// of posts. Nothing is thrown, no byte changes that must not, each request completes once, nothing runs for ever.
final class IwarpTarget {
    private static final int DOMAIN = 1;
    private static final int DEPTH = 8;
    private static final int STEPS_MAX = 200;
    private static final int BUFFER = StreamBuffer.BYTES_MIN;
    private static final SendOperation[] OPERATIONS = {
        SendOperation.READ,
        SendOperation.SEND,
        SendOperation.WRITE,
        SendOperation.FETCH_ADD,
        SendOperation.WRITE_WITH_IMMEDIATE,
        SendOperation.COMPARE_SWAP
    };

    private static final StreamBuffer STREAM = new StreamBuffer(Arena.global().allocate(2L * BUFFER, 8));
    private static final StreamBuffer OWN = new StreamBuffer(Arena.global().allocate(2L * BUFFER, 8));
    private static final MemorySegment SLAB = Arena.global().allocate(1 << 16, 64);
    private static final Canary CANARY = new Canary();

    private final Input in;
    private final MemoryTable memory = new MemoryTable(new SplittableRandom(1), 100, () -> 0);
    private final QueuePairParameters parameters = new QueuePairParameters(0x17);
    private final SendQueue sends = new SendQueue(DEPTH, 2, 64, SegmentAllocator.slicingAllocator(SLAB));
    private final ReceiveQueue receives = new ReceiveQueue(DEPTH, 2, () -> {});
    private final CompletionRing completions = new CompletionRing(64, new NoListener());
    private final IwarpConnection connection;
    private final StreamOutput output = new StreamOutput(OWN, 16);
    private final StreamTarget target = new StreamTarget();
    private final CRC32C crc32c = new CRC32C();
    private final Region writable;
    private final Region readable;
    private final Region local;
    private final Window window = new Window(DOMAIN, 2);
    private final WorkCompletion wc = new WorkCompletion();
    private final boolean crc;
    private final int[] msn = {1, 1, 1, 1};
    private long offset;
    private int from;
    private int to;
    private long posted;
    private long done;

    private IwarpTarget(Input in) {
        this.in = in;
        int choices = in.u8();
        crc = (choices & 1) != 0;
        CANARY.restore();
        writable = region(1, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC));
        readable = region(2, EnumSet.of(Access.REMOTE_READ));
        local = region(3, EnumSet.of(Access.LOCAL_WRITE));
        memory.add(window);
        parameters.protectionDomain = DOMAIN;
        parameters.state = QpState.INIT;
        parameters.access = Access.bits(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC));
        connection = new IwarpConnection(new ProtocolParts(
                parameters,
                sends,
                receives,
                false,
                false,
                completions,
                completions,
                memory,
                new EngineCounters(),
                new NoEvents()));
        connection.start(
                new StreamTerms(
                        (choices & 2) != 0,
                        crc,
                        (choices & 4) != 0,
                        (choices & 8) != 0,
                        (choices & 16) != 0 ? 200 : 1_400,
                        (choices & 32) != 0 ? 1 : 4,
                        4,
                        Rtr.values()[choices >>> 6]),
                0);
    }

    private Region region(int part, Set<Access> access) {
        MemorySegment at = part == 2 ? CANARY.constant() : CANARY.part(part);
        var region = new Region(DOMAIN, at, 0x1000L * part, Access.bits(access));
        memory.add(region);
        return region;
    }

    static void run(byte[] data) {
        new IwarpTarget(new Input(data)).run();
    }

    private void run() {
        for (int step = 0; step < STEPS_MAX && in.hasMore() && parameters.state == QpState.RTS; step++) {
            int what = in.u8();
            switch (what & 7) {
                case 0, 1, 2 -> fpdu(what >>> 3);
                case 3 -> {
                    byte[] raw = in.take(in.u8());
                    MemorySegment.copy(raw, 0, STREAM.segment, ValueLayout.JAVA_BYTE, to, raw.length);
                    arrived(to + raw.length, what >>> 3);
                }
                case 4 -> postSend();
                case 5 -> postReceive();
                case 6 -> {
                    memory.remove(writable);
                    memory.add(writable);
                }
                default -> {
                    if (connection.isStalled()) {
                        connection.giveUp();
                    }
                }
            }
            drain();
        }
        switch (to & 3) {
            case 0 -> connection.onEnd(0);
            case 1 -> connection.onBroken("reset", 0);
            default -> connection.breakDown("enough");
        }
        drain();
        Contract.holds(connection.isFinished(), "the connection is over, and does not end");
        Contract.equal(QpState.ERR, parameters.state, "its state");
        Contract.equal(posted, done, "requests that are done at the end");
        CANARY.check();
    }

    // ---- what arrives

    private void fpdu(int cut) {
        MemorySegment s = STREAM.segment;
        int u = to + Fpdu.LENGTH_BYTES;
        RdmapOpcode opcode = in.choice(RdmapOpcode.values());
        int choices = in.u8();
        boolean last = (choices & 1) == 0;
        int bytes = (choices & 2) != 0 ? in.u16() % 1_500 : in.u8();
        int body = u + opcode.headerBytes();
        if (opcode.isTagged()) {
            Region region = opcode == RdmapOpcode.WRITE ? writable : local;
            Ddp.writeTagged(s, u, opcode, last, key(region), region.iova() + in.u8() % 64);
        } else {
            int queue = opcode.queue();
            Ddp.writeUntagged(
                    s, u, opcode, last, window.key(), msn[queue] + ((choices & 4) != 0 ? in.u8() - 2 : 0), offset);
            boolean more = opcode.isSend() && !last;
            offset = more ? offset + bytes : 0;
            msn[queue] += more ? 0 : 1;
            switch (opcode) {
                case READ_REQUEST -> {
                    ReadRequest.write(s, body, 1, 2, bytes, key(readable), readable.iova() + in.u8());
                    bytes = ReadRequest.BYTES;
                }
                case ATOMIC_REQUEST -> {
                    AtomicRequest.write(
                            s, body, in.u8(), 1, key(writable), writable.iova() + in.u8(), in.u8(), in.i64(), 1, -1);
                    bytes = AtomicRequest.BYTES;
                }
                case ATOMIC_RESPONSE -> {
                    AtomicResponse.write(s, body, in.u8() & 3, 7);
                    bytes = AtomicResponse.BYTES;
                }
                case IMMEDIATE, IMMEDIATE_SOLICITED -> {
                    ImmediateData.write(s, body, 7);
                    bytes = ImmediateData.BYTES;
                }
                default -> {}
            }
        }
        int ulpdu = opcode.headerBytes() + bytes;
        Fpdu.setUlpduLength(s, to, ulpdu);
        if ((choices & 8) != 0) {
            s.set(ValueLayout.JAVA_BYTE, to + in.u8() % 24, (byte) in.u8()); // damaged, but sealed
        }
        int covered = Fpdu.length(ulpdu) - Fpdu.CRC_BYTES;
        Fpdu.setCrc(s, to + covered, crc ? Fpdu.crc(crc32c, STREAM.segment.asByteBuffer(), to, covered) : 0);
        arrived(to + covered + Fpdu.CRC_BYTES, cut);
    }

    private int key(Region region) {
        int choice = in.u8();
        return choice < 220 ? region.key() : choice < 240 ? window.key() : in.i32();
    }

    /// Lets the bytes up to `end` arrive: in one piece, in two, or directly in their region.
    private void arrived(int end, int cut) {
        if ((cut & 1) != 0 && end > to) {
            to += in.u16() % (end - to);
            consume();
        }
        if ((cut & 2) != 0 && from == to && end > to && !connection.isStalled() && connection.direct(target)) {
            int n = Math.min(target.bytes, end - to);
            MemorySegment.copy(STREAM.segment, to, target.segment, target.offset, n);
            connection.onDirect(n, 0);
            from = to += n;
        }
        to = end;
        consume();
        if (to - from > 0 && from > 0) {
            MemorySegment.copy(STREAM.segment, from, STREAM.segment, 0, to - from);
        }
        to -= from;
        from = 0;
        if (to > BUFFER) {
            connection.breakDown("the test has no more room");
        }
    }

    private void consume() {
        int consumed = connection.onBytes(STREAM, from, to, 0);
        Contract.holds(consumed >= 0 && consumed <= to - from, "consumed " + consumed + " of " + (to - from));
        from += consumed;
    }

    // ---- what the application does

    private void postSend() {
        if (!sends.hasRoom()) {
            return;
        }
        int choices = in.u8();
        SendOperation operation = OPERATIONS[choices % OPERATIONS.length];
        SendRequest request = sends.claim();
        request.begin(operation, posted++);
        request.localCause = "";
        request.signaled = true;
        request.fenced = (choices & 0x80) != 0;
        request.rkey = 5;
        request.remoteAddress = 64;
        request.scatter.add(local.key(), local.iova(), operation.isAtomic() ? 8 : in.u16() % 800);
        sends.publish();
    }

    private void postReceive() {
        if (!receives.hasRoom()) {
            return;
        }
        ReceiveRequest request = receives.claim();
        request.wrId = 1_000_000 + posted++;
        request.scatter.clear();
        request.scatter.add(local.key(), local.iova(), in.u16() % 800);
        receives.publish();
    }

    // ---- what comes of it

    private void drain() {
        boolean more;
        int rounds = 0;
        do {
            output.clear();
            more = connection.poll(output, 0);
            Contract.holds(++rounds < 10_000, "it sends for ever");
        } while (more || output.isFull());
        while (completions.poll(wc)) {
            done++;
        }
        Contract.holds(done <= posted, "more done than posted");
    }
}
