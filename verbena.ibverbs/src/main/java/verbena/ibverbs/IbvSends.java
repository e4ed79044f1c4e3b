package verbena.ibverbs;

import static verbena.ibverbs.abi.VerbsConstants.IBV_FLUSH_GLOBAL;
import static verbena.ibverbs.abi.VerbsConstants.IBV_FLUSH_MR;
import static verbena.ibverbs.abi.VerbsConstants.IBV_FLUSH_PERSISTENT;
import static verbena.ibverbs.abi.VerbsConstants.IBV_FLUSH_RANGE;
import static verbena.ibverbs.abi.VerbsConstants.IBV_SEND_FENCE;
import static verbena.ibverbs.abi.VerbsConstants.IBV_SEND_INLINE;
import static verbena.ibverbs.abi.VerbsConstants.IBV_SEND_SIGNALED;
import static verbena.ibverbs.abi.VerbsConstants.IBV_SEND_SOLICITED;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_ATOMIC_CMP_AND_SWP;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_ATOMIC_FETCH_AND_ADD;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_ATOMIC_WRITE;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_BIND_MW;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_FLUSH;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_LOCAL_INV;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_RDMA_READ;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_RDMA_WRITE;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_RDMA_WRITE_WITH_IMM;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_SEND;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_SEND_WITH_IMM;
import static verbena.ibverbs.abi.VerbsConstants.IBV_WR_SEND_WITH_INV;
import static verbena.ibverbs.abi.VerbsStructs.MW_BIND;
import static verbena.ibverbs.abi.VerbsStructs.SEND_WR;
import static verbena.ibverbs.abi.VerbsStructs.SGE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.Capability;
import verbena.verbs.DeviceException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;

/// The posting side of a send queue: one per queue pair, used again for every batch. Requests are written as C's
/// structs into memory of its own, each with room for its scatter/gather entries and inline data behind it, and
/// handed over as a list with one call.
final class IbvSends implements SendBatch {
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
    private static final long SGE_BYTES = SGE.size();
    private static final long SGE_LENGTH = SGE.at("length"); // and lkey
    private static final long BYTES_MAX = 1L << 31;
    private static final int WINDOW_ACCESS =
            Access.bits(Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.ZERO_BASED));

    private final IbvQueuePair qp;
    private final IbvProtectionDomain domain;
    private final Ops ops;
    private final boolean isDatagram;
    private final boolean isXrc;
    private final boolean isAddressed;
    private final boolean isReliable;
    private final Set<Capability> extensions;
    /// Null for a queue pair that was made for none.
    private final @Nullable ExtendedSends extended;
    private final int max;
    private final int maxSge;
    private final int maxInlineBytes;
    private final int sgeRoom;
    private final long stride;

    /// Inside is the thread that has the batch open.
    private final Gate gate = new Gate();
    private final Posting.Dropper dropper = this::drop;
    private final Arena arena = Arena.ofAuto();
    private final long requests;
    private final long bad;
    /// Windows of the batch's binds, by place; null where there is none.
    private final @Nullable IbvMemoryWindow[] windows;

    // Inside the gate.
    /// Address handles of the batch, which C may not free before it has read them.
    private final ArrayList<IbvAddressHandle> held = new ArrayList<>();

    private int count;
    private boolean isOpen;
    /// Whether some of the batch may take a call of their own.
    private boolean hasLoners;
    /// The request that none follows; the others are linked with those behind them.
    private long end;
    private long current;
    private int opcode;
    private int flags;
    /// Immediate data in the network's order, or a key.
    private int data;
    private int sges;
    private long bytes;
    private boolean hasTarget;

    IbvSends(IbvQueuePair qp, IbvProtectionDomain domain, QueuePairOptions options) {
        this.qp = qp;
        this.domain = domain;
        this.ops = domain.owner().ops();
        this.isDatagram = options.type() == QpType.UD;
        this.isXrc = options.type() == QpType.XRC_INITIATOR;
        this.isAddressed = isDatagram || isXrc;
        this.isReliable = isXrc || options.type() == QpType.RC;
        this.extensions = options.extensions();
        this.extended = extensions.isEmpty() ? null : new ExtendedSends(qp.address(), extensions);
        this.max = options.maxSendWr();
        this.maxSge = options.maxSendSge();
        this.maxInlineBytes = options.maxInlineBytes();
        this.sgeRoom = Math.max(1, maxSge); // inline data takes one
        this.stride = WR_BYTES + sgeRoom * SGE_BYTES + (maxInlineBytes + 7L) / 8 * 8;
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

    IbvSends begin() {
        if (gate.isMine()) {
            throw new InvalidStateException("send: this thread has a batch of " + qp + " open; close it first");
        }
        qp.checkSendable("send");
        gate.enter("send", qp);
        count = 0;
        isOpen = false;
        return this;
    }

    /// Nobody posts any more; waits for the batch that another thread has open.
    void closeGate() {
        gate.close("close", qp);
    }

    void openGate() {
        gate.open();
    }

    // ---- a request begins

    @Override
    public SendBatch send(long wrId) {
        begin(IBV_WR_SEND, wrId);
        return this;
    }

    @Override
    public SendBatch sendWithImmediate(long wrId, int immediate) {
        domain.owner().require("sendWithImmediate", Capability.SEND_WITH_IMMEDIATE);
        begin(IBV_WR_SEND_WITH_IMM, wrId);
        data = Memory.swap(immediate);
        return this;
    }

    @Override
    public SendBatch sendWithInvalidate(long wrId, int rkey) {
        domain.owner().require("sendWithInvalidate", Capability.SEND_WITH_INVALIDATE);
        begin(IBV_WR_SEND_WITH_INV, wrId);
        checkService(isReliable, "SEND_WITH_INVALIDATE");
        data = rkey;
        return this;
    }

    @Override
    public SendBatch write(long wrId, long remoteAddress, int rkey) {
        remote(IBV_WR_RDMA_WRITE, wrId, remoteAddress, rkey);
        checkService(!isDatagram, "WRITE");
        return this;
    }

    @Override
    public SendBatch writeWithImmediate(long wrId, long remoteAddress, int rkey, int immediate) {
        domain.owner().require("writeWithImmediate", Capability.IMMEDIATE_DATA);
        remote(IBV_WR_RDMA_WRITE_WITH_IMM, wrId, remoteAddress, rkey);
        checkService(!isDatagram, "WRITE_WITH_IMMEDIATE");
        data = Memory.swap(immediate);
        return this;
    }

    @Override
    public SendBatch read(long wrId, long remoteAddress, int rkey) {
        remote(IBV_WR_RDMA_READ, wrId, remoteAddress, rkey);
        checkService(isReliable, "READ");
        return this;
    }

    @Override
    public SendBatch fetchAdd(long wrId, long remoteAddress, int rkey, long add) {
        atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, "FETCH_ADD", wrId, remoteAddress, rkey, add, 0);
        return this;
    }

    @Override
    public SendBatch compareSwap(long wrId, long remoteAddress, int rkey, long compare, long swap) {
        atomic(IBV_WR_ATOMIC_CMP_AND_SWP, "COMPARE_SWAP", wrId, remoteAddress, rkey, compare, swap);
        return this;
    }

    private void atomic(int which, String name, long wrId, long remoteAddress, int rkey, long compareOrAdd, long swap) {
        domain.owner().require(name, Capability.ATOMICS);
        begin(which, wrId);
        checkService(isReliable, name);
        Memory.putLong(current + REMOTE_ADDRESS, remoteAddress);
        Memory.putLong(current + COMPARE_ADD, compareOrAdd);
        Memory.putLong(current + SWAP, swap);
        Memory.putInt(current + ATOMIC_RKEY, rkey);
    }

    @Override
    public SendBatch atomicWrite(long wrId, long remoteAddress, int rkey, long value) {
        extended(IBV_WR_ATOMIC_WRITE, Capability.ATOMIC_WRITE, wrId, remoteAddress, rkey, value, 0);
        return this;
    }

    @Override
    public SendBatch flush(
            long wrId, long remoteAddress, int rkey, int length, boolean wholeRegion, boolean global, boolean persist) {
        int types = (global ? IBV_FLUSH_GLOBAL : 0) | (persist ? IBV_FLUSH_PERSISTENT : 0);
        int level = wholeRegion ? IBV_FLUSH_MR : IBV_FLUSH_RANGE;
        extended(IBV_WR_FLUSH, Capability.FLUSH, wrId, remoteAddress, rkey, length, types << 8 | level);
        if (length < 0) {
            throw new IllegalArgumentException(drop() + "flush: length: not negative, got " + length);
        }
        if (types == 0) {
            throw new IllegalArgumentException(drop() + "flush: at least one of global and persist");
        }
        return this;
    }

    /// Written as an atomic, whose struct has room for what it says; [#postExtended] hands it over.
    private void extended(int which, Capability as, long wrId, long remoteAddress, int rkey, long value, long kinds) {
        domain.owner().require(as.name(), as);
        begin(which, wrId);
        checkService(isReliable && !isXrc, as.name());
        if (!extensions.contains(as)) {
            throw new InvalidStateException(
                    drop() + qp + " was not made for " + as + "; see QueuePairOptions.withExtensions");
        }
        Memory.putLong(current + REMOTE_ADDRESS, remoteAddress);
        Memory.putLong(current + COMPARE_ADD, value);
        Memory.putLong(current + SWAP, kinds);
        Memory.putInt(current + ATOMIC_RKEY, rkey);
        hasLoners = true;
    }

    @Override
    public SendBatch localInvalidate(long wrId, int rkey) {
        domain.owner().require("localInvalidate", Capability.LOCAL_INVALIDATE);
        begin(IBV_WR_LOCAL_INV, wrId);
        checkService(isReliable, "LOCAL_INVALIDATE");
        data = rkey;
        return this;
    }

    @Override
    public SendBatch bindWindow(
            long wrId,
            MemoryWindow window,
            int rkey,
            MemoryRegion region,
            long address,
            long length,
            Set<Access> access) {
        begin(IBV_WR_BIND_MW, wrId);
        if (!(window instanceof IbvMemoryWindow own)) {
            throw new IllegalArgumentException(drop() + "bindWindow: window: of another device");
        }
        if (!(region instanceof IbvMemoryRegion of)) {
            throw new IllegalArgumentException(drop() + "bindWindow: region: of another device");
        }
        if (!own.isOpen()) {
            throw new InvalidStateException(drop() + "bindWindow: " + own + " is closed");
        }
        if (!of.isOpen()) {
            throw new InvalidStateException(drop() + "bindWindow: " + of + " is closed");
        }
        if (!own.protectionDomain().equals(domain)) {
            throw new IllegalArgumentException(
                    drop() + "bindWindow: window: of " + own.protectionDomain() + ", and the request is of " + domain);
        }
        if (!of.protectionDomain().equals(domain)) {
            throw new IllegalArgumentException(
                    drop() + "bindWindow: region: of " + of.protectionDomain() + ", and the request is of " + domain);
        }
        if (length < 0) {
            throw new IllegalArgumentException(drop() + "bindWindow: length: not negative, got " + length);
        }
        int bits = Access.bits(access);
        if ((bits & ~WINDOW_ACCESS) != 0) {
            throw new IllegalArgumentException(drop() + "bindWindow: access: REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC"
                    + " and ZERO_BASED, got " + access);
        }
        Memory.putLong(current + BIND_MW, own.address());
        Memory.putInt(current + BIND_RKEY, rkey);
        Memory.putLong(current + BIND_INFO, of.c());
        Memory.putLong(current + BIND_INFO + 8, address);
        Memory.putLong(current + BIND_INFO + 16, length);
        Memory.putInt(current + BIND_INFO + 24, bits);
        windows[count - 1] = own;
        hasLoners = true;
        return this;
    }

    // ---- what belongs to it

    @Override
    public SendBatch sge(MemoryRegion region, long offset, int length) {
        checkCurrent();
        IbvMemoryRegion own = Posting.check(region, offset, length, domain, dropper);
        return add(own.lkey(), own.address() + offset, length);
    }

    @Override
    public SendBatch sge(int lkey, long address, int length) {
        checkCurrent();
        if (length < 0) {
            throw new IllegalArgumentException(drop() + "sge: length: not negative, got " + length);
        }
        return add(lkey, address, length);
    }

    private SendBatch add(int lkey, long address, int length) {
        if (!takesEntries()) {
            throw new IllegalArgumentException(drop() + "sge: " + name() + " has no data");
        }
        if ((flags & IBV_SEND_INLINE) != 0) {
            throw new IllegalArgumentException(drop() + "sge: the request's data is inline; it is one or the other");
        }
        if (sges == maxSge) {
            throw new IllegalArgumentException(drop() + "sge: " + (maxSge + 1) + " entries, maxSendSge is " + maxSge);
        }
        if (bytes + length > BYTES_MAX) {
            throw new IllegalArgumentException(drop() + "sge: the entries sum up to more than 2^31 bytes");
        }
        long at = current + WR_BYTES + sges++ * SGE_BYTES;
        Memory.putLong(at, address);
        Memory.putInts(at + SGE_LENGTH, length, lkey);
        bytes += length;
        return this;
    }

    @Override
    public SendBatch inline(MemorySegment data) {
        checkCurrent();
        if (!carriesData()) {
            throw new IllegalArgumentException(drop() + "inline: " + name() + " carries no data; SEND and WRITE do");
        }
        if (sges > 0 && (flags & IBV_SEND_INLINE) == 0) {
            throw new IllegalArgumentException(
                    drop() + "inline: the request has scatter/gather entries; it is one or the other");
        }
        long more = data.byteSize();
        if (more > maxInlineBytes - bytes) {
            long all = bytes + more;
            throw new ResourceLimitException(
                    drop() + "inline",
                    "maxInlineBytes",
                    maxInlineBytes,
                    all + " bytes do not fit; make the queue pair with more, or use sge");
        }
        long place = current + WR_BYTES + sgeRoom * SGE_BYTES;
        Memory.copyFrom(data, place + bytes, more);
        bytes += more;
        long entry = current + WR_BYTES;
        Memory.putLong(entry, place);
        Memory.putInts(entry + SGE_LENGTH, (int) bytes, 0);
        sges = 1;
        flags |= IBV_SEND_INLINE;
        return this;
    }

    private boolean takesEntries() {
        return switch (opcode) {
            case IBV_WR_LOCAL_INV, IBV_WR_BIND_MW, IBV_WR_ATOMIC_WRITE, IBV_WR_FLUSH -> false;
            default -> true;
        };
    }

    private boolean carriesData() {
        return switch (opcode) {
            case IBV_WR_SEND,
                    IBV_WR_SEND_WITH_IMM,
                    IBV_WR_SEND_WITH_INV,
                    IBV_WR_RDMA_WRITE,
                    IBV_WR_RDMA_WRITE_WITH_IMM -> true;
            default -> false;
        };
    }

    @Override
    public SendBatch signaled() {
        checkCurrent();
        flags |= IBV_SEND_SIGNALED;
        return this;
    }

    @Override
    public SendBatch fenced() {
        checkCurrent();
        flags |= IBV_SEND_FENCE;
        return this;
    }

    @Override
    public SendBatch solicited() {
        checkCurrent();
        flags |= IBV_SEND_SOLICITED;
        return this;
    }

    @Override
    public SendBatch to(AddressHandle handle, int qpn, int qkey) {
        checkCurrent();
        if (!isDatagram) {
            throw new IllegalArgumentException(
                    drop() + "to: " + qp + " is of type " + qp.type() + ", which has one peer; only UD chooses");
        }
        if (!(handle instanceof IbvAddressHandle way)) {
            throw new IllegalArgumentException(drop() + "to: handle: of another device");
        }
        if (!way.protectionDomain().equals(domain)) {
            throw new IllegalArgumentException(
                    drop() + "to: handle: of " + way.protectionDomain() + ", and the request is of " + domain);
        }
        if (qpn < 0 || qpn > 0xFF_FFFF) {
            throw new IllegalArgumentException(drop() + "to: qpn: 0 to 0xffffff, got 0x" + Integer.toHexString(qpn));
        }
        if (!way.hold()) {
            throw new InvalidStateException(drop() + "to: " + way + " is closed");
        }
        held.add(way);
        Memory.putLong(current + UD_AH, way.address());
        Memory.putInt(current + UD_QPN, qpn);
        Memory.putInt(current + UD_QKEY, qkey);
        hasTarget = true;
        return this;
    }

    @Override
    public SendBatch to(int srqNumber) {
        checkCurrent();
        if (!isXrc) {
            throw new IllegalArgumentException(drop() + "to: " + qp + " is of type " + qp.type()
                    + "; only XRC_INITIATOR names a queue of the peer");
        }
        if (srqNumber < 0 || srqNumber > 0xFF_FFFF) {
            throw new IllegalArgumentException(
                    drop() + "to: srqNumber: 0 to 0xffffff, got 0x" + Integer.toHexString(srqNumber));
        }
        Memory.putInt(current + XRC_SRQN, srqNumber);
        hasTarget = true;
        return this;
    }

    // ---- the end

    @Override
    public int submit() {
        checkOpen();
        if (isOpen) {
            finish();
        }
        qp.checkSendable("submit");
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

    /// The device has what it needs of the address handles, or never will.
    private void letGo() {
        for (int i = held.size() - 1; i >= 0; i--) {
            held.remove(i).letGo();
        }
    }

    /// Hands the requests from one place up to another over.
    private void post(int from, int to) {
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

    /// With requests that take a call of their own, each in its place among the others: a window of type 1 is bound
    /// so, and what [ExtendedSends] hands over.
    private void postInParts(int n) {
        int from = 0;
        for (int i = 0; i < n; i++) {
            IbvMemoryWindow window = windows[i];
            int which = Memory.getInt(requests + i * stride + OPCODE);
            if (which == IBV_WR_ATOMIC_WRITE || which == IBV_WR_FLUSH) {
                post(from, i);
                postExtended(i, which);
                from = i + 1;
            } else if (window != null && window.type() == 1) {
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
                        window.type() == 1
                                ? Memory.getInt(window.address() + verbena.ibverbs.abi.VerbsStructs.MW.at("rkey"))
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
            Memory.copyFrom(Memory.at(request + BIND_INFO, 32), info, 32);
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

    /// The requests before the bad one were handed over, it and those behind were not.
    private RuntimeException refused(int index, int error) {
        long wrId = Memory.getLong(requests + index * stride + WR_ID);
        String place = "batch request " + (index + 1) + " (wrId " + wrId + ")";
        String before = index == 0 ? "" : "; those before it were handed over";
        if (Errno.ENOMEM.is(error) || Errno.ENOSPC.is(error)) {
            return new ResourceLimitException(
                    place,
                    "maxSendWr",
                    max,
                    "the send queue is full; a request leaves it when it, or one after it, has completed" + before);
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

    @Override
    public void close() {
        if (!gate.isMine()) {
            return;
        }
        if (hasLoners) {
            java.util.Arrays.fill(windows, 0, count, null);
            hasLoners = false;
        }
        letGo();
        gate.leave();
    }

    // ---- leaves

    private void remote(int which, long wrId, long remoteAddress, int rkey) {
        begin(which, wrId);
        Memory.putLong(current + REMOTE_ADDRESS, remoteAddress);
        Memory.putInt(current + RKEY, rkey);
    }

    private void begin(int which, long wrId) {
        checkOpen();
        if (isOpen) {
            finish();
        }
        if (count == max) {
            throw new ResourceLimitException(
                    "batch request " + (count + 1) + " (wrId " + wrId + ")",
                    "maxSendWr",
                    max,
                    "the send queue is full; a request leaves it when it, or one after it, has completed");
        }
        current = requests + count++ * stride;
        isOpen = true;
        opcode = which;
        flags = 0;
        data = 0; // some devices refuse it where it means nothing
        sges = 0;
        bytes = 0;
        hasTarget = false;
        Memory.putLong(current + WR_ID, wrId);
    }

    private void checkService(boolean has, String name) {
        if (!has) {
            throw new IllegalArgumentException(
                    drop() + name + ": a queue pair of type " + qp.type() + " has no such request");
        }
    }

    /// The request is complete: checks what could not be checked before, and writes what was gathered.
    private void finish() {
        if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            checkAtomic();
        }
        if (isAddressed) {
            checkAddressed();
        }
        Memory.putInts(current + NUM_SGE, sges, opcode);
        Memory.putInts(current + FLAGS, flags, data);
        isOpen = false;
    }

    private void checkAtomic() {
        if (sges != 1 || bytes != Long.BYTES) {
            throw new IllegalArgumentException(drop() + name()
                    + ": the value before goes to exactly one sge of 8 bytes, got "
                    + (sges == 1 ? "one of " + bytes + " bytes" : sges + " of them"));
        }
    }

    private void checkAddressed() {
        if (isXrc) {
            if (!hasTarget && opcode != IBV_WR_LOCAL_INV && opcode != IBV_WR_BIND_MW) {
                throw new IllegalArgumentException(
                        drop() + name() + ": name the peer's shared receive queue: to(srqNumber)");
            }
            return;
        }
        if (!hasTarget) {
            throw new IllegalArgumentException(drop() + name() + ": name the receiver: to(handle, qpn, qkey)");
        }
        int most = qp.datagramBytesMax();
        if (bytes > most) {
            long all = bytes;
            throw new IllegalArgumentException(
                    drop() + name() + ": a datagram has at most " + most + " bytes, the port's active MTU, got " + all);
        }
    }

    private String name() {
        return switch (opcode) {
            case IBV_WR_SEND -> "SEND";
            case IBV_WR_SEND_WITH_IMM -> "SEND_WITH_IMMEDIATE";
            case IBV_WR_SEND_WITH_INV -> "SEND_WITH_INVALIDATE";
            case IBV_WR_RDMA_WRITE -> "WRITE";
            case IBV_WR_RDMA_WRITE_WITH_IMM -> "WRITE_WITH_IMMEDIATE";
            case IBV_WR_RDMA_READ -> "READ";
            case IBV_WR_ATOMIC_FETCH_AND_ADD -> "FETCH_ADD";
            case IBV_WR_ATOMIC_CMP_AND_SWP -> "COMPARE_SWAP";
            case IBV_WR_LOCAL_INV -> "LOCAL_INVALIDATE";
            case IBV_WR_BIND_MW -> "BIND_WINDOW";
            case IBV_WR_ATOMIC_WRITE -> "ATOMIC_WRITE";
            case IBV_WR_FLUSH -> "FLUSH";
            default -> "request " + opcode;
        };
    }

    private void checkOpen() {
        if (!gate.isMine()) {
            qp.checkOpen("batch");
            throw new InvalidStateException("batch: not open, or another thread's");
        }
    }

    private void checkCurrent() {
        checkOpen();
        if (!isOpen) {
            throw new InvalidStateException("batch: begin a request first: send, write, read, ...");
        }
    }

    /// Takes the request with a mistake back; returns what its message begins with.
    private String drop() {
        String place = "batch request " + count + " (wrId " + Memory.getLong(current + WR_ID) + "): ";
        count--;
        isOpen = false;
        windows[count] = null;
        return place;
    }
}
