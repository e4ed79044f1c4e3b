package verbena.transport.iwarp;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import verbena.transport.EngineCounters;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;

/// One end of a connection, with all that an engine would hold for it, and nothing that moves by itself.
final class IwarpEnd implements QueuePairEvents {
    static final int DOMAIN = 1;
    static final int ALL = Access.LOCAL_WRITE.bit()
            | Access.REMOTE_WRITE.bit()
            | Access.REMOTE_READ.bit()
            | Access.REMOTE_ATOMIC.bit()
            | Access.MW_BIND.bit();
    private static final int DEPTH = 64;
    private static final int SGE = 4;
    private static final int INLINE = 128;
    private static final byte JUNK = (byte) 0xA5;

    final String name;
    final MemoryTable memory;
    final EngineCounters counters = new EngineCounters();
    final SendQueue sends = new SendQueue(DEPTH, SGE, INLINE, Arena.ofAuto());
    final ReceiveQueue receives = new ReceiveQueue(DEPTH, SGE, () -> {});
    final CompletionRing completions = new CompletionRing(1024, new NoListener());
    final QueuePairParameters parameters = new QueuePairParameters(0x17);
    final IwarpConnection connection;
    final List<AsyncEvent.Type> events = new ArrayList<>();
    /// The first FPDU of the peer has been reported.
    boolean heard;

    private final StreamBuffer buffer = new StreamBuffer(Arena.ofAuto().allocate(2L * StreamBuffer.BYTES_MIN, 8));
    private int buffered;
    private final StreamOutput output =
            new StreamOutput(new StreamBuffer(Arena.ofAuto().allocate(2L * StreamBuffer.BYTES_MIN, 8)), 16);
    private final StreamTarget target = new StreamTarget();
    /// Bytes that went straight to where they belong.
    long direct;

    private record NoListener() implements CompletionRing.Listener {
        @Override
        public void onNotification() {}

        @Override
        public void onWake() {}

        @Override
        public void onOverflow() {
            throw new AssertionError("more completions than the test has room for");
        }
    }

    IwarpEnd(String name, long seed) {
        this(name, new Random(seed));
    }

    /// @param keys where memory keys come from
    IwarpEnd(String name, RandomGenerator keys) {
        this.name = name;
        memory = new MemoryTable(keys, 1000, () -> 0);
        parameters.protectionDomain = DOMAIN;
        parameters.state = QpState.INIT;
        parameters.access = ALL;
        connection = new IwarpConnection(new ProtocolParts(
                parameters, sends, receives, false, false, completions, completions, memory, counters, this));
        buffer.segment.fill(JUNK);
    }

    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {
        events.add(type);
    }

    @Override
    public void onState(QpState state) {}

    @Override
    public void onFirstPacket(boolean isAnswer) {
        heard = true;
    }

    // ---- memory

    Region region(int bytes) {
        return region(bytes, ALL);
    }

    Region region(int bytes, int access) {
        return region(Arena.ofAuto(), bytes, access);
    }

    Region region(Arena arena, int bytes, int access) {
        MemorySegment segment = arena.allocate(bytes, 8);
        return region(segment, segment.address(), access);
    }

    Region region(MemorySegment segment, long iova, int access) {
        var region = new Region(DOMAIN, segment, iova, access);
        memory.add(region);
        return region;
    }

    Window window(int type) {
        var window = new Window(DOMAIN, type);
        memory.add(window);
        return window;
    }

    static void fill(Region region, long seed) {
        byte[] bytes = new byte[(int) region.length()];
        new Random(seed).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, region.memory(), ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    static byte[] bytes(Region region, long offset, int length) {
        return region.memory().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    // ---- posting

    /// One request, published at once.
    ///
    /// @param offset and
    /// @param bytes of `local`
    IwarpEnd post(SendOperation operation, long wrId, Region local, long offset, int bytes, int rkey, long address) {
        return post(prepare(operation, wrId, local, offset, bytes, rkey, address));
    }

    SendRequest prepare(
            SendOperation operation, long wrId, Region local, long offset, int bytes, int rkey, long address) {
        SendRequest request = sends.claim();
        request.begin(operation, wrId);
        request.signaled = true;
        request.scatter.add(local.key(), local.iova() + offset, bytes);
        request.rkey = rkey;
        request.remoteAddress = address;
        return request;
    }

    IwarpEnd post(SendRequest prepared) {
        prepared.localCause = "";
        sends.publish();
        return this;
    }

    IwarpEnd receive(long wrId, Region local, long offset, int bytes) {
        ReceiveRequest request = receives.claim();
        request.wrId = wrId;
        request.scatter.clear();
        request.scatter.add(local.key(), local.iova() + offset, bytes);
        receives.publish();
        return this;
    }

    // ---- what happened

    /// All completions that were not taken, one string each: wrId, status, opcode, bytes.
    List<String> completed() {
        var all = new ArrayList<String>();
        var wc = new WorkCompletion();
        while (completions.poll(wc)) {
            all.add(wc.wrId() + " "
                    + (wc.status() == WcStatus.SUCCESS
                            ? wc.opcode() + " " + wc.byteLength()
                                    + (wc.hasImmediate() ? " imm 0x" + Integer.toHexString(wc.immediate()) : "")
                                    + (wc.hasInvalidate() ? " inv" : "")
                            : wc.status()));
        }
        return all;
    }

    // ---- the stream

    /// All that this side has to send now, as bytes of the stream.
    byte[] sent() {
        var all = new ByteArrayOutputStream();
        while (true) {
            output.clear();
            boolean more;
            do {
                more = connection.poll(output, 0);
            } while (more && output.total() < 64 * 1024);
            boolean full = output.isFull();
            for (int i = 0; i < output.count(); i++) {
                all.writeBytes(output.segment(i)
                        .asSlice(output.offset(i), output.length(i))
                        .toArray(ValueLayout.JAVA_BYTE));
            }
            if (!more && !full) {
                return all.toByteArray();
            }
        }
    }

    /// Bytes arrive all at once.
    void arrive(byte[] bytes) {
        arrive(bytes, false);
    }

    /// Bytes arrive, unless a message waits for a receive that is still not there; false then, and they do not.
    boolean arriveOrWait(byte[] bytes, boolean straight) {
        if (connection.isStalled()) {
            consume();
            if (connection.isStalled()) {
                return false;
            }
        }
        arrive(bytes, straight);
        return true;
    }

    private void consume() {
        int consumed = connection.onBytes(buffer, 0, buffered, 0);
        if (consumed < 0 || consumed > buffered) {
            throw new AssertionError("consumed " + consumed + " of " + buffered);
        }
        MemorySegment.copy(buffer.segment, consumed, buffer.segment, 0, buffered - consumed);
        buffered -= consumed;
    }

    /// Bytes arrive.
    ///
    /// @param straight whether what may go straight into a region does
    void arrive(byte[] bytes, boolean straight) {
        int at = 0;
        while (at < bytes.length) {
            if (straight && buffered == 0 && connection.direct(target)) {
                int n = Math.min(target.bytes, bytes.length - at);
                MemorySegment.copy(bytes, at, target.segment, ValueLayout.JAVA_BYTE, target.offset, n);
                connection.onDirect(n, 0);
                at += n;
                direct += n;
                continue;
            }
            // No more at once than leaves room for payload to go straight.
            int n = Math.min(straight ? 24 : bytes.length - at, Math.min(bytes.length - at, buffer.size() - buffered));
            if (n == 0) {
                throw new AssertionError("nothing is consumed of " + buffered + " bytes");
            }
            MemorySegment.copy(bytes, at, buffer.segment, ValueLayout.JAVA_BYTE, buffered, n);
            at += n;
            buffered += n;
            consume();
        }
    }

    static byte[] concat(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        Arrays.stream(parts).forEach(all::writeBytes);
        return all.toByteArray();
    }
}
