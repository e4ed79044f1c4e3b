package verbena.nic;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.transport.queue.SendOperation;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.Capability;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.UnsupportedException;

/// The posting side of a send queue: one batch that is used again and again, by whoever holds its lock. A request is
/// judged when the next one begins or the batch is submitted, because only then is it whole.
final class SoftSends implements SendBatch {
    private final SendQueue queue;
    private final SoftProtectionDomain domain;
    private final int maxSge;
    private final int maxInlineBytes;
    private final Runnable doorbell;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable SendRequest current;

    /// @param doorbell run after each submission
    SoftSends(SendQueue queue, SoftProtectionDomain domain, int maxSge, int maxInlineBytes, Runnable doorbell) {
        this.queue = queue;
        this.domain = domain;
        this.maxSge = maxSge;
        this.maxInlineBytes = maxInlineBytes;
        this.doorbell = doorbell;
    }

    /// Waits for a turn.
    SoftSends begin() {
        lock.lock();
        if (lock.getHoldCount() > 1) {
            lock.unlock();
            throw new IllegalStateException("send: this thread has a batch open on the same queue; close it first");
        }
        return this;
    }

    // ---- requests

    @Override
    public SendBatch send(long wrId) {
        begin(SendOperation.SEND, wrId);
        return this;
    }

    @Override
    public SendBatch sendWithImmediate(long wrId, int immediate) {
        begin(SendOperation.SEND_WITH_IMMEDIATE, wrId).immediateOrKey = immediate;
        return this;
    }

    @Override
    public SendBatch sendWithInvalidate(long wrId, int rkey) {
        begin(SendOperation.SEND_WITH_INVALIDATE, wrId).immediateOrKey = rkey;
        return this;
    }

    @Override
    public SendBatch write(long wrId, long remoteAddress, int rkey) {
        remote(begin(SendOperation.WRITE, wrId), remoteAddress, rkey);
        return this;
    }

    @Override
    public SendBatch writeWithImmediate(long wrId, long remoteAddress, int rkey, int immediate) {
        SendRequest request = begin(SendOperation.WRITE_WITH_IMMEDIATE, wrId);
        remote(request, remoteAddress, rkey);
        request.immediateOrKey = immediate;
        return this;
    }

    @Override
    public SendBatch read(long wrId, long remoteAddress, int rkey) {
        remote(begin(SendOperation.READ, wrId), remoteAddress, rkey);
        return this;
    }

    @Override
    public SendBatch fetchAdd(long wrId, long remoteAddress, int rkey, long add) {
        SendRequest request = begin(SendOperation.FETCH_ADD, wrId);
        remote(request, remoteAddress, rkey);
        request.operand = add;
        return this;
    }

    @Override
    public SendBatch compareSwap(long wrId, long remoteAddress, int rkey, long compare, long swap) {
        SendRequest request = begin(SendOperation.COMPARE_SWAP, wrId);
        remote(request, remoteAddress, rkey);
        request.operand = compare;
        request.swap = swap;
        return this;
    }

    @Override
    public SendBatch atomicWrite(long wrId, long remoteAddress, int rkey, long value) {
        throw unsupported("atomicWrite", Capability.ATOMIC_WRITE);
    }

    @Override
    public SendBatch flush(
            long wrId, long remoteAddress, int rkey, int length, boolean wholeRegion, boolean global, boolean persist) {
        throw unsupported("flush", Capability.FLUSH);
    }

    @Override
    public SendBatch localInvalidate(long wrId, int rkey) {
        begin(SendOperation.LOCAL_INVALIDATE, wrId).immediateOrKey = rkey;
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
        if (!(window instanceof SoftMemoryWindow ownWindow) || window.isClosed()) {
            throw new IllegalArgumentException("window: is closed, or of another provider");
        }
        if (!(region instanceof SoftMemoryRegion ownRegion)) {
            throw new IllegalArgumentException("region: is of another provider");
        }
        SendRequest request = begin(SendOperation.BIND_WINDOW, wrId);
        request.window = ownWindow.window();
        request.windowRegion = ownRegion.region();
        request.rkey = rkey;
        request.windowAddress = address;
        request.windowBytes = length;
        request.windowAccess = Access.bits(access);
        return this;
    }

    // ---- what belongs to a request

    @Override
    public SendBatch sge(MemoryRegion region, long offset, int length) {
        if (region.protectionDomain() != domain) {
            throw drop(new IllegalArgumentException(
                    where() + ": sge: " + region + " is of another protection domain than " + domain.label()));
        }
        try {
            Objects.checkFromIndexSize(offset, length, region.length());
        } catch (IndexOutOfBoundsException e) {
            throw drop(new IndexOutOfBoundsException(where() + ": sge: " + length + " bytes from " + offset
                    + " are not inside " + region + " of " + region.length() + " bytes"));
        }
        return sge(region.lkey(), region.address() + offset, length);
    }

    @Override
    public SendBatch sge(int lkey, long address, int length) {
        SendRequest request = request("sge");
        if (length < 0) {
            throw drop(new IllegalArgumentException(where() + ": length: not negative, got " + length));
        }
        if (request.isInline) {
            throw drop(new IllegalArgumentException(where() + ": sge: the request has inline data already"));
        }
        if (request.scatter.isFull()) {
            throw drop(new ResourceLimitException(where(), "maxSendSge", maxSge, "use fewer entries"));
        }
        request.scatter.add(lkey, address, length);
        return this;
    }

    @Override
    public SendBatch inline(MemorySegment data) {
        SendRequest request = request("inline");
        if (request.operation.needsResponse() || request.operation.isLocal()) {
            throw drop(new IllegalArgumentException(
                    where() + ": inline: " + request.operation + " sends no data of its own"));
        }
        if (request.scatter.count > 0) {
            throw drop(new IllegalArgumentException(where() + ": inline: the request has scatter/gather entries"));
        }
        if (request.inlineBytes + data.byteSize() > maxInlineBytes) {
            throw drop(new ResourceLimitException(
                    where(),
                    "maxInlineBytes",
                    maxInlineBytes,
                    "the data has " + (request.inlineBytes + data.byteSize()) + " bytes; register it instead"));
        }
        MemorySegment.copy(data, 0, request.inline, request.inlineBytes, data.byteSize());
        request.isInline = true;
        request.inlineBytes += (int) data.byteSize();
        return this;
    }

    @Override
    public SendBatch signaled() {
        request("signaled").signaled = true;
        return this;
    }

    @Override
    public SendBatch fenced() {
        request("fenced").fenced = true;
        return this;
    }

    @Override
    public SendBatch solicited() {
        request("solicited").solicited = true;
        return this;
    }

    @Override
    public SendBatch to(AddressHandle handle, int qpn, int qkey) {
        throw unsupported("to", Capability.UD);
    }

    // ---- the batch

    @Override
    public int submit() {
        checkHeld();
        finish();
        int n = queue.publish();
        if (n > 0) {
            doorbell.run();
        }
        return n;
    }

    @Override
    public void close() {
        if (lock.isHeldByCurrentThread()) {
            current = null;
            queue.abandon();
            lock.unlock();
        }
    }

    private SendRequest begin(SendOperation operation, long wrId) {
        checkHeld();
        finish();
        if (!queue.hasRoom()) {
            throw new ResourceLimitException(
                    where(queue.claimed(), wrId),
                    "maxSendWr",
                    queue.capacity(),
                    "the send queue is full; poll completions, or make it deeper");
        }
        SendRequest request = queue.claim();
        request.begin(operation, wrId);
        current = request;
        return request;
    }

    /// The request that was being written is whole: judge it.
    private void finish() {
        SendRequest request = current;
        if (request == null) {
            return;
        }
        if (request.operation.isAtomic() && (request.scatter.count != 1 || request.scatter.bytes != Long.BYTES)) {
            throw drop(new IllegalArgumentException(
                    where() + ": an atomic takes one scatter entry of 8 bytes for the value before, got "
                            + request.scatter.count + " of " + request.scatter.bytes + " bytes"));
        }
        if (request.bytes() > SoftContext.MESSAGE_BYTES_MAX) {
            throw drop(new IllegalArgumentException(
                    where() + ": a message has at most 2^31 bytes, got " + request.bytes()));
        }
        current = null;
    }

    private static void remote(SendRequest request, long remoteAddress, int rkey) {
        request.remoteAddress = remoteAddress;
        request.rkey = rkey;
    }

    private SendRequest request(String what) {
        checkHeld();
        SendRequest request = current;
        if (request == null) {
            throw new IllegalStateException(what + ": begin a request first, for example with write(...)");
        }
        return request;
    }

    private void checkHeld() {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("send: the batch is closed, or belongs to another thread");
        }
    }

    /// Takes the request with the mistake back; those before it stay.
    private RuntimeException drop(RuntimeException mistake) {
        if (current != null) {
            current = null;
            queue.unclaim();
        }
        return mistake;
    }

    private UnsupportedException unsupported(String verb, Capability capability) {
        return new UnsupportedException(
                verb, capability, domain.context().device().name());
    }

    private String where() {
        SendRequest request = current;
        return where(queue.claimed() - 1, request == null ? 0 : request.wrId);
    }

    private static String where(int index, long wrId) {
        return "request " + index + " of the batch (wrId " + wrId + ")";
    }
}
