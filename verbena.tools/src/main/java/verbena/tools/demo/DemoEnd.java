package verbena.tools.demo;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.SplittableRandom;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.Completion;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.TransportType;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;

/// One end of the demo: a connection, with memory for messages and memory for the other end. For one thread.
final class DemoEnd implements AutoCloseable {
    /// Bytes of the region that the other end may read and write.
    static final int REGION_BYTES = 4 << 20;
    /// Bytes of the messages by SEND; the region for them is no business of the other end.
    static final int MESSAGE_BYTES = 4_096;

    /// The time that any step of the demo may take before it counts as failed.
    static final Duration TIMEOUT = Duration.ofSeconds(5);

    /// 64-bit values on the wire and in the shared memory: little-endian, as every atomic is on this kind of host.
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /// The offset of the number for the atomics in the peer's region, and its first value.
    static final int COUNTER_OFFSET = 3 << 20;

    static final long COUNTER_INITIAL = 1_000;

    final Context context;
    final MemoryRegion region;
    final MemoryRegion messages;
    final QueuePair qp;

    private final Connection connection;
    private final WorkCompletion wc = new WorkCompletion();
    private long completionsTaken;
    private long sends;
    private int sendsToTake;

    /// @param connection closed with this
    DemoEnd(Context context, Connection connection) {
        this.context = context;
        this.connection = connection;
        region = connection.allocate(REGION_BYTES, Access.remoteAll());
        messages = connection.allocate(MESSAGE_BYTES);
        qp = connection.queuePair();
    }

    /// The length of the message that ends a ping-pong.
    static final int LAST_BYTES = 1;

    /// The number of short messages of which one completes visibly.
    private static final int SIGNAL_EVERY = 16;
    private static final int LOOKS = 1 << 12;

    /// Returns the options for a connection of the demo.
    static ConnectionOptions options(Context context) {
        return ConnectionOptions.defaults().withDevice(context).withConnectTimeout(TIMEOUT);
    }

    /// Connects to the peer, which listens there.
    static DemoEnd connect(Context context, String address, String port) throws InterruptedException {
        var at = new InetSocketAddress(InetAddress.ofLiteral(address), Integer.parseInt(port));
        return new DemoEnd(context, Connection.connect(at, options(context)));
    }

    Connection connection() {
        return connection;
    }

    /// Waits for the next completion of its queue, which has to be a success of this kind.
    ///
    /// @throws CommandFailed when it is not, or does not come
    WorkCompletion await(String what, WcOpcode opcode) throws InterruptedException {
        return take(what, opcode, false);
    }

    /// Does the same.
    ///
    /// @param polls looks again and again, and never sleeps
    WorkCompletion take(String what, WcOpcode opcode, boolean polls) throws InterruptedException {
        boolean isReceive = opcode == WcOpcode.RECV || opcode == WcOpcode.RECV_RDMA_WITH_IMM;
        CompletionQueue cq = isReceive
                ? connection.queuePair().options().receiveCq()
                : connection.queuePair().options().sendCq();
        if (!(polls ? isPolled(cq) : cq.await(wc, TIMEOUT))) {
            throw new CommandFailed(what + ": no completion in " + TIMEOUT.toSeconds() + " s");
        }
        completionsTaken++;
        if (!wc.ok()) {
            throw new CommandFailed(what + ": " + ((Completion.Failure) wc.snapshot()).explanation());
        }
        if (wc.opcode() != opcode) {
            throw new CommandFailed(what + ": a completion of " + opcode + " expected, got " + wc.opcode());
        }
        return wc;
    }

    private boolean isPolled(CompletionQueue cq) throws InterruptedException {
        long start = 0;
        for (int looks = 0; !cq.poll(wc); looks++) {
            Thread.onSpinWait();
            if (looks < LOOKS) {
                continue;
            }
            looks = 0;
            long now = System.nanoTime();
            start = start == 0 ? now : start;
            if (now - start > TIMEOUT.toNanos()) {
                return false;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        return true;
    }

    /// Sends bytes of the region for messages, inline. The completion of one in a few is asked for, and is taken a
    /// few messages later, when it is there already.
    void send(long offset, int bytes, boolean polls) throws InterruptedException {
        boolean isSignaled = ++sends % SIGNAL_EVERY == 0 || bytes == LAST_BYTES;
        try (SendBatch batch = qp.sendBatch()) {
            batch.send(1).inline(messages.segment().asSlice(offset, bytes));
            if (isSignaled) {
                batch.signaled();
                sendsToTake++;
            }
            batch.submit();
        }
        if (sends % SIGNAL_EVERY == SIGNAL_EVERY / 2) {
            takeSends(polls);
        }
    }

    /// Takes the completions of those messages that have been sent.
    void takeSends(boolean polls) throws InterruptedException {
        for (; sendsToTake > 0; sendsToTake--) {
            take("a short message", WcOpcode.SEND, polls);
        }
    }

    /// Waits until what was written is where it belongs. Where a WRITE is acknowledged, it is; iWARP completes it
    /// when TCP has it, and a READ behind it is answered when it has arrived (RFC 5040, 5.5).
    void settle(RemoteMemory memory) throws InterruptedException {
        if (context.device().transportType() == TransportType.IWARP) {
            qp.postRead(0, memory.slice(0, 1), messages.slice(0, 1));
            await("READ of a byte", WcOpcode.RDMA_READ);
        }
    }

    long completionsTaken() {
        return completionsTaken;
    }

    /// Returns whether the device has a counter of this name.
    boolean counts(String name) {
        return context.counters().containsKey(name);
    }

    /// Returns a counter of the device; 0 when it has none of this name.
    long counter(String name) {
        return context.counters().getOrDefault(name, 0L);
    }

    /// Returns the first content of the peer's memory: bytes that follow from the seed, and a number.
    static byte[] initialMemory(long seed) {
        byte[] bytes = pattern(seed, REGION_BYTES);
        MemorySegment.ofArray(bytes).set(LONG.withByteAlignment(1), COUNTER_OFFSET, COUNTER_INITIAL);
        return bytes;
    }

    /// Returns bytes that follow from a seed, the same in every process.
    static byte[] pattern(long seed, int length) {
        var bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    /// Returns the first place where `actual` differs from `expected`, in words; empty when they are equal.
    static String difference(MemorySegment actual, byte[] expected) {
        long at = actual.mismatch(MemorySegment.ofArray(expected));
        if (at < 0) {
            return "";
        }
        return "byte %d is 0x%02x, expected 0x%02x"
                .formatted(at, actual.get(ValueLayout.JAVA_BYTE, at), expected[(int) at]);
    }

    @Override
    public void close() {
        connection.close();
    }
}
