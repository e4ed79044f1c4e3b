package verbena.tools;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.SplittableRandom;
import verbena.verbs.Access;
import verbena.verbs.Completion;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Endpoint;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;

/// One end of the demo: an opened device with a region of memory, a queue pair, and its completion queue. For one
/// thread.
final class DemoEnd implements AutoCloseable {
    /// Bytes of the region that the other end may read and write.
    static final int REGION_BYTES = 4 << 20;
    /// Bytes of the messages by SEND; the region for them is no business of the other end.
    static final int MESSAGE_BYTES = 4_096;

    /// How long anything in the demo may take before it counts as failed.
    static final Duration PATIENCE = Duration.ofSeconds(5);

    /// 64-bit values on the wire and in the shared memory: little-endian, as every atomic is on this kind of host.
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /// Where in the peer's region the number for the atomics is, and what it is at first.
    static final int COUNTER_OFFSET = 3 << 20;

    static final long COUNTER_INITIAL = 1_000;

    private static final int DEPTH = 64;

    final Context context;
    final MemoryRegion region;
    final MemoryRegion messages;
    final CompletionQueue cq;
    final QueuePair qp;

    private final ProtectionDomain pd;
    private final WorkCompletion wc = new WorkCompletion();
    private long completionsTaken;

    DemoEnd(String deviceName) {
        context = Device.named(deviceName).open();
        pd = context.allocateProtectionDomain();
        region = pd.allocate(REGION_BYTES, Access.remoteAll());
        messages = pd.allocate(MESSAGE_BYTES, Access.local());
        cq = context.createCompletionQueue(2 * DEPTH);
        qp = pd.createQueuePair(QueuePairOptions.rc(cq).withDepth(DEPTH, DEPTH));
    }

    Endpoint endpoint() {
        return qp.endpoint();
    }

    /// The next completion, which has to be a good one.
    ///
    /// @throws CommandFailed when it is not, or does not come
    WorkCompletion await(String what) throws InterruptedException {
        if (!cq.await(wc, PATIENCE)) {
            throw new CommandFailed(what + ": no completion in " + PATIENCE.toSeconds() + " s");
        }
        completionsTaken++;
        if (!wc.ok()) {
            throw new CommandFailed(what + ": " + ((Completion.Failure) wc.snapshot()).explanation());
        }
        return wc;
    }

    /// The next completion, which has to be a good one of this kind.
    WorkCompletion await(String what, WcOpcode opcode) throws InterruptedException {
        WorkCompletion got = await(what);
        if (got.opcode() != opcode) {
            throw new CommandFailed(what + ": a completion of " + opcode + " expected, got " + got.opcode());
        }
        return got;
    }

    long completionsTaken() {
        return completionsTaken;
    }

    /// A counter of the device; 0 when it has none of this name.
    long counter(String name) {
        return context.counters().getOrDefault(name, 0L);
    }

    /// What the peer's memory holds at first: bytes that follow from the seed, and a number.
    static byte[] initialMemory(long seed) {
        byte[] bytes = pattern(seed, REGION_BYTES);
        MemorySegment.ofArray(bytes).set(LONG.withByteAlignment(1), COUNTER_OFFSET, COUNTER_INITIAL);
        return bytes;
    }

    /// Bytes that follow from a seed, the same in every process.
    static byte[] pattern(long seed, int length) {
        var bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    /// Where `actual` first differs from `expected`, in words; empty when nowhere.
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
        qp.close();
        cq.close();
        messages.close();
        region.close();
        pd.close();
        context.close();
    }
}
