package verbena.nic.device;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.foreign.GuardedAccess;
import verbena.provider.Sends;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.AddressHandle;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.WcStatus;
import verbena.verbs.internal.FaultySends;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.SendOperation;
import verbena.wire.ib.Feth;

/// The posting side of a send queue. Requests are written straight into their slots.
final class SoftSends extends Sends implements FaultySends {
    private final DeviceQueuePair qp;
    private final SoftDomain domain;
    private final SendQueue queue;
    private final ReentrantLock turn = new ReentrantLock();
    private @Nullable SendRequest current;
    /// The bytes that leave with the requests that are complete and not submitted.
    private long bytes;
    /// Whether all of them may need no packets ([SendRequest#mayNeedNoPackets()]).
    private boolean needNoPackets = true;

    /// @param of the queue pair, as the object that its posters must not find closed
    SoftSends(DeviceQueuePair qp, OwnedObject of, SoftDomain domain, SendQueue queue) {
        super(of, domain, qp.options());
        this.qp = qp;
        this.domain = domain;
        this.queue = queue;
    }

    /// Keeps posters away. Not while this thread has a batch open.
    void lock() {
        turn.lock();
    }

    boolean tryLock() {
        return turn.tryLock();
    }

    void unlock() {
        turn.unlock();
    }

    /// Returns the number of requests that are posted and not completed; any thread.
    long outstanding() {
        long retired = queue.retired(); // first, so that this is never negative
        return queue.published() - retired;
    }

    @Override
    protected boolean isMine() {
        return turn.isHeldByCurrentThread();
    }

    @Override
    protected void enter() {
        turn.lock();
    }

    @Override
    protected void forget() {
        queue.abandon();
        forgetMessages();
    }

    @Override
    protected void leave() {
        turn.unlock();
        qp.onBatchClosed();
    }

    @Override
    protected void checkPostable(String verb) {
        qp.checkSendable(verb);
    }

    @Override
    protected int claimed() {
        return queue.claimed();
    }

    @Override
    protected boolean hasRoom() {
        return queue.hasRoom();
    }

    @Override
    protected int capacity() {
        return queue.capacity();
    }

    @Override
    protected void unclaim() {
        queue.unclaim();
    }

    // ---- a request

    @Override
    protected void claim(SendOperation operation, long wrId) {
        SendRequest request = queue.claim();
        request.begin(operation, wrId);
        current = request;
    }

    private SendRequest current() {
        return Objects.requireNonNull(current, "a request has begun");
    }

    @Override
    protected void putImmediateOrKey(int value) {
        current().immediateOrKey = value;
    }

    @Override
    protected void putRemote(long address, int rkey) {
        SendRequest request = current();
        request.remoteAddress = address;
        request.rkey = rkey;
    }

    @Override
    protected void putAtomic(long address, int rkey, long operand, long swap) {
        putRemote(address, rkey);
        SendRequest request = current();
        request.operand = operand;
        request.swap = swap;
    }

    @Override
    protected void putAtomicWrite(long address, int rkey, long value) {
        putRemote(address, rkey);
        current().operand = value;
    }

    @Override
    protected void putFlush(long address, int rkey, int length, boolean wholeRegion, boolean global, boolean persist) {
        putRemote(address, rkey);
        SendRequest request = current();
        request.flushBytes = length;
        request.flushSelectivity = wholeRegion ? Feth.WHOLE_REGION : Feth.RANGE;
        request.flushPlacement = (global ? Feth.GLOBAL_VISIBILITY : 0) | (persist ? Feth.PERSISTENCE : 0);
    }

    @Override
    protected void putBind(MemoryWindow window, int rkey, MemoryRegion region, long address, long length, int access) {
        SendRequest request = current();
        request.rkey = rkey;
        request.window = ((SoftMemoryWindow) window).window();
        request.windowRegion = ((SoftMemoryRegion) region).entry();
        request.windowAddress = address;
        request.windowBytes = length;
        request.windowAccess = access;
    }

    @Override
    protected void putEntry(int index, int lkey, long address, int length) {
        current().scatter.add(lkey, address, length);
    }

    @Override
    protected void putInline(MemorySegment data, int before) {
        SendRequest request = current();
        long more = data.byteSize();
        if (!GuardedAccess.copy(data, 0, request.inline, before, more)) {
            throw new IllegalArgumentException(drop() + "inline: the memory of the data is not there");
        }
        request.inlineBytes = before + (int) more;
        request.isInline = true;
    }

    @Override
    protected void putTarget(AddressHandle handle, int qpn, int qkey) {
        SendRequest request = current();
        request.path = ((SoftAddressHandle) handle).path();
        request.destinationQpn = qpn;
        request.qkey = qkey;
    }

    @Override
    protected void putSharedReceiveQueue(int srqNumber) {
        current().srqNumber = srqNumber;
    }

    @Override
    public void fail(WcStatus status, String cause) {
        checkBegun();
        current().fail(status, cause);
        faulty();
    }

    @Override
    protected void complete(int flags) {
        SendRequest request = current();
        request.signaled = (flags & SIGNALED) != 0;
        request.fenced = (flags & FENCED) != 0;
        request.solicited = (flags & SOLICITED) != 0;
        bytes += request.departingBytes();
        needNoPackets &= request.mayNeedNoPackets();
    }

    @Override
    protected int handOver() {
        int n = queue.publish();
        if (n > 0) {
            qp.ring(n, bytes, needNoPackets);
        }
        forgetMessages();
        return n;
    }

    private void forgetMessages() {
        bytes = 0;
        needNoPackets = true;
    }

    @Override
    protected int datagramBytesMax() {
        return domain.core().context.mtu().bytes();
    }

    // ---- objects of this device

    @Override
    protected @Nullable OwnedObject own(MemoryRegion region) {
        return region instanceof SoftMemoryRegion own ? own : null;
    }

    @Override
    protected @Nullable OwnedObject own(MemoryWindow window) {
        return window instanceof SoftMemoryWindow own ? own : null;
    }

    @Override
    protected @Nullable OwnedObject own(AddressHandle handle) {
        return handle instanceof SoftAddressHandle own ? own : null;
    }
}
