package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsConstants.IBV_FLUSH_GLOBAL;
import static verbena.foreign.rdma.VerbsConstants.IBV_FLUSH_MR;
import static verbena.foreign.rdma.VerbsConstants.IBV_FLUSH_PERSISTENT;
import static verbena.foreign.rdma.VerbsConstants.IBV_FLUSH_RANGE;
import static verbena.foreign.rdma.VerbsConstants.IBV_WR_ATOMIC_WRITE;
import static verbena.foreign.rdma.VerbsConstants.IBV_WR_FLUSH;
import static verbena.foreign.rdma.VerbsStructs.MW_BIND;
import static verbena.foreign.rdma.VerbsStructs.SEND_WR;
import static verbena.foreign.rdma.VerbsStructs.SGE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;
import verbena.foreign.rdma.VerbsStructs;
import verbena.ibverbs.lib.ExtendedSends;
import verbena.ibverbs.lib.Gate;
import verbena.ibverbs.lib.Ops;
import verbena.provider.Sends;
import verbena.verbs.AddressHandle;
import verbena.verbs.DeviceException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.SendOperation;

/// The posting side of a send queue. It writes requests as C's structs into memory of its own, and hands them over
/// as a list with one call. Behind each request is room for its scatter/gather entries and its inline data.
final class IbvSends extends Sends {
    private static final long WR_BYTES = SEND_WR.size();
    private static final long WR_ID = SEND_WR.at("wr_id");
    private static final long NEXT = SEND_WR.at("next");
    private static final long SG_LIST = SEND_WR.at("sg_list");
    private static final long NUM_SGE = SEND_WR.at("num_sge"); // and opcode
    private static final long OPCODE = SEND_WR.at("opcode");
    private static final long FLAGS = SEND_WR.at("send_flags"); // and imm_data
    private static final long REMOTE_ADDRESS = SEND_WR.at("wr.rdma.remote_addr");
    private static final long RKEY = SEND_WR.at("wr.rdma.rkey");
    private static final long COMPARE_ADD = SEND_WR.at("wr.atomic.compare_add");
    private static final long SWAP = SEND_WR.at("wr.atomic.swap");
    private static final long ATOMIC_RKEY = SEND_WR.at("wr.atomic.rkey");
    private static final long UD_AH = SEND_WR.at("wr.ud.ah");
    private static final long UD_QPN = SEND_WR.at("wr.ud.remote_qpn");
    private static final long UD_QKEY = SEND_WR.at("wr.ud.remote_qkey");
    private static final long XRC_SRQN = SEND_WR.at("qp_type.xrc.remote_srqn");
    private static final long BIND_MW = SEND_WR.at("bind_mw.mw");
    private static final long BIND_RKEY = SEND_WR.at("bind_mw.rkey");
    private static final long BIND_INFO = SEND_WR.at("bind_mw.bind_info");
    private static final long BIND_INFO_BYTES = 32;
    private static final long SGE_BYTES = SGE.size();
    private static final long SGE_LENGTH = SGE.at("length"); // and lkey
    private static final long MW_RKEY = VerbsStructs.MW.at("rkey");

    private final IbvQueuePair qp;
    private final Ops ops;
    /// Null for a queue pair that was made for none.
    private final @Nullable ExtendedSends extended;
    private final int max;
    private final int sgeRoom;
    private final long stride;

    /// Inside is the thread that has the batch open.
    private final Gate gate = new Gate();
    private final Arena arena = Arena.ofAuto();
    private final long requests;
    private final long bad;
    /// Windows of the batch's binds, by place; null where there is none.
    private final @Nullable IbvMemoryWindow[] windows;

    // Inside the gate.
    /// Address handles of the batch, which C may not free before it has read them.
    private final ArrayList<IbvAddressHandle> held = new ArrayList<>();

    private int count;
    /// Whether some of the batch may take a call of their own.
    private boolean hasLoners;
    /// The request that none follows; the others are linked with those behind them.
    private long end;
    private long current;
    private SendOperation operation = SendOperation.SEND;
    /// Immediate data in the network's order, or a key.
    private int data;
    private int sges;

    IbvSends(IbvQueuePair qp, OwnDomain domain, QueuePairOptions options) {
        super(qp, domain, options);
        this.qp = qp;
        this.ops = domain.owner().ops();
        this.extended = options.extensions().isEmpty() ? null : new ExtendedSends(qp.address(), options.extensions());
        this.max = options.maxSendWr();
        this.sgeRoom = Math.max(1, options.maxSendSge()); // inline data takes one
        this.stride = WR_BYTES + sgeRoom * SGE_BYTES + (options.maxInlineBytes() + 7L) / 8 * 8;
        this.windows = new IbvMemoryWindow[max];
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
        gate.close("close", qp);
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
        gate.enter("send", qp);
        count = 0;
    }

    @Override
    protected void forget() {
        if (hasLoners) {
            Arrays.fill(windows, 0, count, null);
            hasLoners = false;
        }
        count = 0;
        letGo();
    }

    @Override
    protected void leave() {
        gate.leave();
    }

    @Override
    protected void checkPostable(String verb) {
        qp.checkSendable(verb);
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
        windows[--count] = null;
    }

    // ---- a request

    @Override
    protected void claim(SendOperation fresh, long wrId) {
        assert gate.isMine() && count < max : count + " of " + max + " requests are claimed";
        current = requests + count++ * stride;
        operation = fresh;
        data = 0; // some devices refuse it where it means nothing
        sges = 0;
        Memory.putLong(current + WR_ID, wrId);
    }

    @Override
    protected void putImmediateOrKey(int value) {
        boolean isKey = operation == SendOperation.SEND_WITH_INVALIDATE || operation == SendOperation.LOCAL_INVALIDATE;
        data = isKey ? value : Memory.swap(value);
    }

    @Override
    protected void putRemote(long address, int rkey) {
        Memory.putLong(current + REMOTE_ADDRESS, address);
        Memory.putInt(current + RKEY, rkey);
    }

    @Override
    protected void putAtomic(long address, int rkey, long operand, long swap) {
        Memory.putLong(current + REMOTE_ADDRESS, address);
        Memory.putLong(current + COMPARE_ADD, operand);
        Memory.putLong(current + SWAP, swap);
        Memory.putInt(current + ATOMIC_RKEY, rkey);
    }

    /// Writes an atomic write as an atomic, whose struct has room for its fields; [#postExtended] hands it over.
    @Override
    protected void putAtomicWrite(long address, int rkey, long value) {
        putAtomic(address, rkey, value, 0);
        hasLoners = true;
    }

    /// Writes a flush like [#putAtomicWrite].
    @Override
    protected void putFlush(long address, int rkey, int length, boolean wholeRegion, boolean global, boolean persist) {
        int types = (global ? IBV_FLUSH_GLOBAL : 0) | (persist ? IBV_FLUSH_PERSISTENT : 0);
        int level = wholeRegion ? IBV_FLUSH_MR : IBV_FLUSH_RANGE;
        putAtomic(address, rkey, length, types << 8 | level);
        hasLoners = true;
    }

    @Override
    protected void putBind(MemoryWindow window, int rkey, MemoryRegion region, long address, long length, int access) {
        var own = (IbvMemoryWindow) window;
        Memory.putLong(current + BIND_MW, own.address());
        Memory.putInt(current + BIND_RKEY, rkey);
        Memory.putLong(current + BIND_INFO, ((IbvMemoryRegion) region).c());
        Memory.putLong(current + BIND_INFO + 8, address);
        Memory.putLong(current + BIND_INFO + 16, length);
        Memory.putInt(current + BIND_INFO + 24, access);
        windows[count - 1] = own;
        hasLoners = true;
    }

    @Override
    protected void putEntry(int index, int lkey, long address, int length) {
        assert index >= 0 && index < sgeRoom : index + " of " + sgeRoom + " entries";
        long at = current + WR_BYTES + index * SGE_BYTES;
        Memory.putLong(at, address);
        Memory.putInts(at + SGE_LENGTH, length, lkey);
        sges = index + 1;
    }

    @Override
    protected void putInline(MemorySegment from, int before) {
        long place = current + WR_BYTES + sgeRoom * SGE_BYTES;
        long more = from.byteSize();
        assert place + before + more <= current + stride : "more inline data than there is room";
        Memory.copyFrom(from, place + before, more);
        putEntry(0, 0, place, before + (int) more);
    }

    @Override
    protected void putTarget(AddressHandle handle, int qpn, int qkey) {
        var way = (IbvAddressHandle) handle;
        if (!way.hold()) {
            throw new InvalidStateException(drop() + "to: " + way + " is closed");
        }
        held.add(way);
        Memory.putLong(current + UD_AH, way.address());
        Memory.putInt(current + UD_QPN, qpn);
        Memory.putInt(current + UD_QKEY, qkey);
    }

    @Override
    protected void putSharedReceiveQueue(int srqNumber) {
        Memory.putInt(current + XRC_SRQN, srqNumber);
    }

    @Override
    protected void complete(int flags) {
        Memory.putInts(current + NUM_SGE, sges, opcode(operation));
        Memory.putInts(current + FLAGS, flags, data);
    }

    /// Returns the value of `enum ibv_wr_opcode`.
    private static int opcode(SendOperation operation) {
        return switch (operation) {
            case SEND -> VerbsConstants.IBV_WR_SEND;
            case SEND_WITH_IMMEDIATE -> VerbsConstants.IBV_WR_SEND_WITH_IMM;
            case SEND_WITH_INVALIDATE -> VerbsConstants.IBV_WR_SEND_WITH_INV;
            case WRITE -> VerbsConstants.IBV_WR_RDMA_WRITE;
            case WRITE_WITH_IMMEDIATE -> VerbsConstants.IBV_WR_RDMA_WRITE_WITH_IMM;
            case READ -> VerbsConstants.IBV_WR_RDMA_READ;
            case FETCH_ADD -> VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD;
            case COMPARE_SWAP -> VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP;
            case ATOMIC_WRITE -> IBV_WR_ATOMIC_WRITE;
            case FLUSH -> IBV_WR_FLUSH;
            case LOCAL_INVALIDATE -> VerbsConstants.IBV_WR_LOCAL_INV;
            case BIND_WINDOW -> VerbsConstants.IBV_WR_BIND_MW;
            case FAULTY -> throw new AssertionError("no method of a batch begins it");
        };
    }

    @Override
    protected int datagramBytesMax() {
        return qp.datagramBytesMax();
    }

    // ---- objects of this device

    @Override
    protected @Nullable OwnedObject own(MemoryRegion region) {
        return region instanceof IbvMemoryRegion own ? own : null;
    }

    @Override
    protected @Nullable OwnedObject own(MemoryWindow window) {
        return window instanceof IbvMemoryWindow own ? own : null;
    }

    @Override
    protected @Nullable OwnedObject own(AddressHandle handle) {
        return handle instanceof IbvAddressHandle own ? own : null;
    }

    // ---- handing over

    @Override
    protected int handOver() {
        int n = count;
        boolean loners = hasLoners;
        count = 0;
        hasLoners = false;
        try {
            if (loners) {
                postInParts(n);
            } else {
                post(0, n);
            }
        } finally {
            letGo();
        }
        return n;
    }

    /// Releases the address handles: the device has used them, or never will.
    private void letGo() {
        for (int i = held.size() - 1; i >= 0; i--) {
            held.remove(i).letGo();
        }
    }

    /// Hands the requests from one place up to another over.
    private void post(int from, int to) {
        assert gate.isMine() && 0 <= from && from <= to && to <= max : from + " to " + to + " of " + max;
        if (from == to) {
            return;
        }
        long last = requests + (to - 1) * stride;
        if (last != end) {
            Memory.putLong(end + NEXT, end + stride);
            Memory.putLong(last + NEXT, 0);
            end = last;
        }
        int error = ops.postSend(qp.address(), requests + from * stride, bad);
        if (error != 0) {
            long index = (Memory.getLong(bad) - requests) / stride;
            throw refused(Math.clamp(index, from, to - 1), Math.abs(error));
        }
    }

    /// Posts a batch with requests that take a call of their own, each in its place among the others. These are
    /// binds of windows of type 1, and the requests that [ExtendedSends] hands over.
    private void postInParts(int n) {
        int from = 0;
        for (int i = 0; i < n; i++) {
            IbvMemoryWindow window = windows[i];
            int which = Memory.getInt(requests + i * stride + OPCODE);
            if (which == IBV_WR_ATOMIC_WRITE || which == IBV_WR_FLUSH) {
                post(from, i);
                postExtended(i, which);
                from = i + 1;
            } else if (window != null && window.type() == MemoryWindow.Type.TYPE_1) {
                post(from, i);
                bind(window, i);
                from = i + 1;
            }
        }
        post(from, n);
        for (int i = 0; i < n; i++) {
            IbvMemoryWindow window = windows[i];
            if (window != null) {
                long request = requests + i * stride;
                window.bound(
                        window.type() == MemoryWindow.Type.TYPE_1
                                ? Memory.getInt(window.address() + MW_RKEY)
                                : Memory.getInt(request + BIND_RKEY));
                windows[i] = null;
            }
        }
    }

    private void bind(IbvMemoryWindow window, int index) {
        long request = requests + index * stride;
        try (Arena own = Arena.ofConfined()) {
            long at = own.allocate(MW_BIND.size(), 8).address();
            Memory.putLong(at, Memory.getLong(request + WR_ID));
            Memory.putInt(at + MW_BIND.at("send_flags"), Memory.getInt(request + FLAGS));
            long info = at + MW_BIND.at("bind_info");
            Memory.copyFrom(Memory.at(request + BIND_INFO, BIND_INFO_BYTES), info, BIND_INFO_BYTES);
            int error = ops.of("u32 bind_mw(ptr, ptr, ptr)")
                    .map(bind -> bind.call(qp.address(), window.address(), at).error())
                    .orElse(Errno.EOPNOTSUPP.code);
            if (error != 0) {
                throw refused(index, error);
            }
        }
    }

    private void postExtended(int index, int which) {
        long request = requests + index * stride;
        ExtendedSends by = Objects.requireNonNull(extended, "such a request has begun");
        long wrId = Memory.getLong(request + WR_ID);
        int with = Memory.getInt(request + FLAGS);
        long to = Memory.getLong(request + REMOTE_ADDRESS);
        int rkey = Memory.getInt(request + ATOMIC_RKEY);
        long kinds = Memory.getLong(request + SWAP);
        byte type = (byte) (kinds >>> 8);
        byte level = (byte) kinds;
        int error = which == IBV_WR_ATOMIC_WRITE
                ? by.atomicWrite(wrId, with, to, rkey, request + COMPARE_ADD)
                : by.flush(wrId, with, to, rkey, Memory.getLong(request + COMPARE_ADD), type, level);
        if (error != 0) {
            throw refused(index, Math.abs(error));
        }
    }

    /// Returns the exception for a bad request: the requests before it were handed over, it and those behind were
    /// not.
    private RuntimeException refused(int index, int error) {
        long wrId = Memory.getLong(requests + index * stride + WR_ID);
        String place = place(index + 1, wrId);
        String before = index == 0 ? "" : "; those before it were handed over";
        if (Errno.ENOMEM.is(error) || Errno.ENOSPC.is(error)) {
            return full(place, before);
        }
        if (Errno.ENOTCONN.is(error)) {
            return new InvalidStateException(place + ": " + qp + " is not connected" + before);
        }
        if (Errno.isUnsupported(error) || Errno.EINVAL.is(error)) {
            return new IllegalArgumentException(
                    place + ": the device does not take this request: " + Errno.text(error) + before);
        }
        return new DeviceException(place + ": the device says " + Errno.text(error) + before);
    }
}
