package verbena.tools.perf;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.EnumSet;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;

/// The number of messages that the receiver has taken, which the receiver itself writes into the sender's memory:
/// iWARP has nothing that makes a sender wait for a receive, so `ib_send_bw` counts. The receiver writes a number of
/// 4 bytes for each queue pair, in the byte order of both hosts, after each third of the receives that are kept
/// posted. Its writes have as `wrId` the number of their queue pair plus that of all queue pairs. For one thread.
final class Credits implements AutoCloseable {
    /// Writes under way for each queue pair, at most.
    static final int WRITES_MAX = 8;

    private static final VarHandle COUNT = ValueLayout.JAVA_INT.varHandle();

    /// The region: first the numbers that are written to the peer, then those that the peer writes.
    private final MemoryRegion region;
    private final int queuePairs;
    private final int depth;
    private final int[] writing;
    /// The numbers to write when a write may begin; 0 for none.
    private final long[] due;

    /// @param depth receives that each end keeps posted for a queue pair
    Credits(ProtectionDomain domain, int queuePairs, int depth) {
        this.queuePairs = queuePairs;
        this.depth = depth;
        region = domain.allocate(2L * queuePairs * Integer.BYTES, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
        writing = new int[queuePairs];
        due = new long[queuePairs];
    }

    int rkey() {
        return region.rkey();
    }

    /// Returns the address at which the peer writes its number for queue pair `i`.
    long address(int i) {
        return region.address() + theirs(i);
    }

    private long ours(int i) {
        return (long) i * Integer.BYTES;
    }

    private long theirs(int i) {
        return ours(queuePairs + i);
    }

    /// Begins anew: nothing has been taken yet. The peer must not be sending.
    void begin() {
        for (int i = 0; i < queuePairs; i++) {
            COUNT.setRelease(region.segment(), theirs(i), 0);
        }
    }

    /// Returns the number of messages that can be received without a write to the peer.
    int untoldMax() {
        return Math.max(1, depth / 3) - 1;
    }

    /// Returns whether the peer has a receive for message number `last`, counted from 1.
    boolean allows(int i, long last) {
        int taken = (int) COUNT.getAcquire(region.segment(), theirs(i));
        return Integer.compareUnsigned((int) last - taken, depth) <= 0;
    }

    /// Notes that so many messages have been taken from queue pair `on`, and writes that to the peer when it is
    /// time.
    void received(int i, long taken, QueuePair on, PerfPeer to) {
        if (taken % depth % Math.max(1, depth / 3) == 0) {
            due[i] = taken;
            write(i, on, to);
        }
    }

    /// Notes that a write on queue pair `on` is complete.
    void written(int i, QueuePair on, PerfPeer to) {
        writing[i]--;
        write(i, on, to);
    }

    private void write(int i, QueuePair on, PerfPeer to) {
        if (due[i] == 0 || writing[i] == WRITES_MAX) {
            return;
        }
        COUNT.setRelease(region.segment(), ours(i), (int) due[i]);
        due[i] = 0;
        writing[i]++;
        try (var batch = on.sendBatch()) {
            batch.write((long) queuePairs + i, to.address(), to.rkey())
                    .sge(region, ours(i), Integer.BYTES)
                    .signaled()
                    .submit();
        }
    }

    @Override
    public void close() {
        region.close();
    }
}
