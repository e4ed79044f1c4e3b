package verbena.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import verbena.transport.EngineCounters;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.transport.rc.ReliableConnection;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.QpState;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;
import verbena.wire.Frame;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Packet;

/// The cost of a packet in the protocol alone, both sides together: two reliable connections in memory, without
/// engine, link and ICRC. One operation is one packet, with its share of posting, acknowledging and completing.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class ReliableConnectionBenchmark {
    private static final int BATCH = 64;
    private static final int MTU = 4_096;
    private static final int BYTES = BATCH * MTU;
    private static final int DOMAIN = 1;

    private final class End implements QueuePairEvents, CompletionRing.Listener {
        final QueuePairParameters parameters;
        final MemoryTable memory = new MemoryTable(new SplittableRandom(1), 8, () -> 0);
        final SendQueue sends = new SendQueue(2 * BATCH, 1, 64, arena);
        final CompletionRing completions = new CompletionRing(4 * BATCH, this);
        final Region region =
                new Region(DOMAIN, arena.allocate(BYTES, 4_096), 1L << 32, Access.bits(Access.remoteAll()));
        final ReliableConnection protocol;

        End(int qpn, Gid own, Gid other) {
            memory.add(region);
            parameters = new QueuePairParameters(qpn);
            parameters.protectionDomain = DOMAIN;
            parameters.pathMtu = MTU;
            parameters.access = Access.bits(Access.remoteAll());
            parameters.destinationQpn = 0x300 - qpn;
            parameters.readsOutstandingMax = 16;
            parameters.readsServedMax = 16;
            parameters.ackTimeoutNanos = 67_000_000;
            parameters.retryCount = 7;
            parameters.path(own, other);
            protocol = new ReliableConnection(new ProtocolParts(
                    parameters,
                    sends,
                    new ReceiveQueue(BATCH, 1, () -> {}),
                    false,
                    false,
                    completions,
                    completions,
                    memory,
                    new EngineCounters(),
                    this));
            for (QpState to : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS}) {
                QpState from = parameters.state;
                parameters.state = to;
                protocol.onModified(from, to, 0);
            }
        }

        @Override
        public void onAsyncEvent(AsyncEvent.Type type) {
            throw new IllegalStateException(type.toString());
        }

        @Override
        public void onState(QpState state) {
            throw new IllegalStateException(protocol.rootCause());
        }

        @Override
        public void onNotification() {}

        @Override
        public void onWake() {}

        @Override
        public void onOverflow() {}
    }

    private Arena arena;
    private Frame[] frames;
    private End a;
    private End b;
    private long now;
    private final WorkCompletion wc = new WorkCompletion();

    /// The size of a WRITE in bytes: 64 small ones are posted together, or one of 64 packets.
    @Param({"8", "262144"})
    private int bytes;

    @Setup(Level.Trial)
    public void open() {
        arena = Arena.ofShared();
        MemorySegment slab = arena.allocate((long) BATCH * Frame.SLOT_BYTES, 64);
        frames = Frame.allocate(slab);
        Gid one = Gid.parse("10.0.0.1");
        Gid two = Gid.parse("10.0.0.2");
        a = new End(0x100, one, two);
        b = new End(0x200, two, one);
    }

    @TearDown(Level.Trial)
    public void close() {
        arena.close();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long write() {
        return run(SendOperation.WRITE);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long read() {
        return run(SendOperation.READ);
    }

    private long run(SendOperation operation) {
        int requests = bytes <= MTU ? BATCH : 1;
        for (int i = 0; i < requests; i++) {
            SendRequest request = a.sends.claim();
            request.begin(operation, i);
            request.signaled = i == requests - 1;
            request.remoteAddress = b.region.iova() + (long) i * bytes;
            request.rkey = b.region.key();
            request.scatter.add(a.region.key(), a.region.iova() + (long) i * bytes, bytes);
        }
        a.sends.publish();
        long packets = 0;
        while (!a.completions.poll(wc)) {
            now += 1_000;
            packets += move(a, b) + move(b, a);
        }
        if (!wc.ok()) {
            throw new IllegalStateException(wc.toString());
        }
        return packets;
    }

    private int move(End from, End to) {
        int n = 0;
        while (n < BATCH && from.protocol.poll(frames[n], now)) {
            n++;
        }
        for (int i = 0; i < n; i++) {
            if (Packet.check(frames[i]) != Malformed.OK) {
                throw new IllegalStateException("malformed");
            }
            to.protocol.onPacket(frames[i], Packet.opcode(frames[i]), now);
        }
        return n;
    }
}
