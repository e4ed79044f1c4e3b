package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.RECV_WR;
import static verbena.foreign.rdma.VerbsStructs.SGE;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.linux.Errno;
import verbena.ibverbs.lib.Gate;
import verbena.provider.Receives;
import verbena.verbs.DeviceException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.spi.OwnedObject;

/// The posting side of a receive queue. Receives are written as C's structs into memory of its own, and handed over
/// as a list.
final class IbvReceives extends Receives {
    /// The call that hands a list to C: queue, first request, where to write the address of a bad one; an error
    /// number.
    interface Poster {
        int post(long queue, long request, long bad);
    }

    /// A check that throws when nothing can be posted now.
    interface Guard {
        void check(String verb);
    }

    private static final long WR_BYTES = RECV_WR.size();
    private static final long WR_ID = RECV_WR.at("wr_id");
    private static final long NEXT = RECV_WR.at("next");
    private static final long SG_LIST = RECV_WR.at("sg_list");
    private static final long NUM_SGE = RECV_WR.at("num_sge");
    private static final long SGE_BYTES = SGE.size();
    private static final long SGE_LENGTH = SGE.at("length"); // and lkey

    private final int max;
    private final long stride;
    private final Poster poster;
    private final long queue;
    private final Guard guard;

    /// Inside is the thread that has the batch open.
    private final Gate gate = new Gate();
    private final Arena arena = Arena.ofAuto();
    private final long requests;
    private final long bad;

    // Inside the gate.
    private int count;
    /// The receive that none follows; the others are linked with those behind them.
    private long end;
    private long current;

    /// @param isShared whether `queue` is a shared receive queue
    /// @param queue that it posts to, in C
    IbvReceives(
            boolean isShared,
            OwnedObject owner,
            OwnDomain domain,
            int max,
            int maxSge,
            Poster poster,
            long queue,
            Guard guard) {
        super(isShared, owner, domain, maxSge);
        this.max = max;
        this.poster = poster;
        this.queue = queue;
        this.guard = guard;
        this.stride = WR_BYTES + maxSge * SGE_BYTES;
        this.requests = arena.allocate(Math.max(1, max) * stride, 8).address();
        this.bad = arena.allocate(8, 8).address();
        this.end = requests;
        for (int i = 0; i < max; i++) {
            long at = requests + i * stride;
            Memory.putLong(at + NEXT, at == end ? 0 : at + stride);
            Memory.putLong(at + SG_LIST, at + WR_BYTES);
        }
    }

    /// Closes the gate: from now on no thread posts. It waits for the batch that another thread has open.
    void closeGate() {
        gate.close("close", owner);
    }

    void openGate() {
        gate.open();
    }

    @Override
    protected boolean isMine() {
        return gate.isMine();
    }

    @Override
    protected void enter() {
        gate.enter("receive", owner);
        count = 0;
    }

    @Override
    protected void forget() {
        count = 0;
    }

    @Override
    protected void leave() {
        gate.leave();
    }

    @Override
    protected void checkPostable(String verb) {
        guard.check(verb);
    }

    @Override
    protected int claimed() {
        return count;
    }

    @Override
    protected boolean hasRoom() {
        return count < max;
    }

    @Override
    protected int capacity() {
        return max;
    }

    @Override
    protected void unclaim() {
        assert gate.isMine() && count > 0;
        count--;
    }

    @Override
    protected @Nullable OwnedObject own(MemoryRegion region) {
        return region instanceof IbvMemoryRegion own ? own : null;
    }

    @Override
    protected void claim(long wrId) {
        assert gate.isMine() && count < max : count + " of " + max + " receives are claimed";
        current = requests + count++ * stride;
        Memory.putLong(current + WR_ID, wrId);
        Memory.putInt(current + NUM_SGE, 0);
    }

    @Override
    protected void putEntry(int index, int lkey, long address, int length) {
        long at = current + WR_BYTES + index * SGE_BYTES;
        assert index >= 0 && at + SGE_BYTES <= current + stride : index + " is beyond the room for entries";
        Memory.putLong(at, address);
        Memory.putInts(at + SGE_LENGTH, length, lkey);
        Memory.putInt(current + NUM_SGE, index + 1);
    }

    @Override
    protected int handOver() {
        assert gate.isMine() && count <= max;
        int n = count;
        count = 0;
        if (n > 0) {
            long last = requests + (n - 1) * stride;
            if (last != end) {
                Memory.putLong(end + NEXT, end + stride);
                Memory.putLong(last + NEXT, 0);
                end = last;
            }
            int error = poster.post(queue, requests, bad);
            if (error != 0) {
                throw refused(Math.abs(error));
            }
        }
        return n;
    }

    /// Returns the exception for a bad receive: the receives before the bad one were handed over, it and those
    /// behind were not.
    private RuntimeException refused(int error) {
        long at = Memory.getLong(bad);
        int index = (int) ((at - requests) / stride);
        String place = place(index + 1, Memory.getLong(at + WR_ID));
        String before = index == 0 ? "" : "; those before it were handed over";
        if (Errno.ENOMEM.is(error) || Errno.ENOSPC.is(error)) {
            return full(place, before);
        }
        return new DeviceException(place + ": the device says " + Errno.text(error) + before);
    }
}
