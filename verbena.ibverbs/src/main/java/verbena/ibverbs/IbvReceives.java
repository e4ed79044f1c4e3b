package verbena.ibverbs;

import static verbena.ibverbs.abi.VerbsStructs.RECV_WR;
import static verbena.ibverbs.abi.VerbsStructs.SGE;

import java.lang.foreign.Arena;
import verbena.verbs.DeviceException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.spi.OwnedObject;

/// The posting side of a receive queue: one per queue, used again for every batch. Requests are written as C's
/// structs into memory of its own, and handed over as a list.
final class IbvReceives implements ReceiveBatch {
    /// Hands a list to C: queue, first request, where to write the address of a bad one; an error number.
    interface Poster {
        int post(long queue, long request, long bad);
    }

    /// Throws when nothing can be posted now.
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
    private static final long BYTES_MAX = 1L << 31;

    private final IbvProtectionDomain domain;
    private final OwnedObject owner;
    private final int max;
    private final int maxSge;
    private final long stride;
    private final String depthName;
    private final String sgeName;
    private final Poster poster;
    private final long queue;
    private final Guard guard;

    /// Inside is the thread that has the batch open.
    private final Gate gate = new Gate();
    private final Posting.Dropper dropper = this::drop;
    private final Arena arena = Arena.ofAuto();
    private final long requests;
    private final long bad;

    // Inside the gate.
    private int count;
    private boolean isOpen;
    /// The receive that none follows; the others are linked with those behind them.
    private long end;
    private long current;
    private int sges;
    private long bytes;

    IbvReceives(
            IbvProtectionDomain domain,
            OwnedObject owner,
            int max,
            int maxSge,
            String depthName,
            String sgeName,
            Poster poster,
            long queue,
            Guard guard) {
        this.domain = domain;
        this.owner = owner;
        this.max = max;
        this.maxSge = maxSge;
        this.depthName = depthName;
        this.sgeName = sgeName;
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

    IbvReceives begin() {
        if (gate.isMine()) {
            throw new InvalidStateException(
                    "receive: this thread has a batch of " + owner.label() + " open; close it first");
        }
        guard.check("receive");
        gate.enter("receive", owner);
        count = 0;
        isOpen = false;
        return this;
    }

    /// Nobody posts any more; waits for the batch that another thread has open.
    void closeGate() {
        gate.close("close", owner);
    }

    void openGate() {
        gate.open();
    }

    @Override
    public ReceiveBatch receive(long wrId) {
        checkOpen();
        isOpen = false;
        if (count == max) {
            throw new ResourceLimitException(
                    "batch receive " + (count + 1) + " (wrId " + wrId + ")",
                    depthName,
                    max,
                    "the receive queue of " + owner.label() + " is full");
        }
        current = requests + count++ * stride;
        Memory.putLong(current + WR_ID, wrId);
        isOpen = true;
        sges = 0;
        bytes = 0;
        Memory.putInt(current + NUM_SGE, 0);
        return this;
    }

    @Override
    public ReceiveBatch sge(MemoryRegion region, long offset, int length) {
        checkCurrent();
        IbvMemoryRegion own = Posting.check(region, offset, length, domain, dropper);
        return add(own.lkey(), own.address() + offset, length);
    }

    @Override
    public ReceiveBatch sge(int lkey, long address, int length) {
        checkCurrent();
        if (length < 0) {
            throw new IllegalArgumentException(drop() + "sge: length: not negative, got " + length);
        }
        return add(lkey, address, length);
    }

    private ReceiveBatch add(int lkey, long address, int length) {
        if (sges == maxSge) {
            throw new IllegalArgumentException(
                    drop() + "sge: " + (maxSge + 1) + " entries, " + sgeName + " is " + maxSge);
        }
        if (bytes + length > BYTES_MAX) {
            throw new IllegalArgumentException(drop() + "sge: the entries sum up to more than 2^31 bytes");
        }
        long at = current + WR_BYTES + sges++ * SGE_BYTES;
        Memory.putLong(at, address);
        Memory.putInts(at + SGE_LENGTH, length, lkey);
        Memory.putInt(current + NUM_SGE, sges);
        bytes += length;
        return this;
    }

    @Override
    public int submit() {
        checkOpen();
        guard.check("submit");
        int n = count;
        count = 0;
        isOpen = false;
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

    /// The receives before the bad one were handed over, it and those behind were not.
    private RuntimeException refused(int error) {
        long at = Memory.getLong(bad);
        long index = (at - requests) / stride;
        String place = "batch receive " + (index + 1) + " (wrId " + Memory.getLong(at + WR_ID) + ")";
        String before = index == 0 ? "" : "; those before it were handed over";
        if (Errno.ENOMEM.is(error) || Errno.ENOSPC.is(error)) {
            return new ResourceLimitException(
                    place, depthName, max, "the receive queue of " + owner.label() + " is full" + before);
        }
        return new DeviceException(place + ": the device says " + Errno.text(error) + before);
    }

    @Override
    public void close() {
        if (!gate.isMine()) {
            return;
        }
        gate.leave();
    }

    private void checkOpen() {
        if (!gate.isMine()) {
            owner.checkOpen("batch");
            throw new InvalidStateException("batch: not open, or another thread's");
        }
    }

    private void checkCurrent() {
        checkOpen();
        if (!isOpen) {
            throw new InvalidStateException("batch: begin with receive(wrId)");
        }
    }

    /// Takes a receive with a mistake back; returns what its message begins with.
    private String drop() {
        checkCurrent();
        String place = "batch receive " + count + " (wrId " + Memory.getLong(current + WR_ID) + "): ";
        count--;
        isOpen = false;
        return place;
    }
}
