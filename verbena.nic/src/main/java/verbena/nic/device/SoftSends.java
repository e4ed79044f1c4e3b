package verbena.nic.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.nic.kind.DeviceLimits;
import verbena.transport.Messages;
import verbena.transport.queue.SendOperation;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.Capability;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.FaultySends;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Transport;

/// The posting side of a send queue: one per queue pair, used again for every batch. Requests are written straight
/// into their slots.
final class SoftSends implements SendBatch, FaultySends {
    private static final int WINDOW_ACCESS =
            Access.bits(Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.ZERO_BASED));

    private final SoftQueuePair qp;
    private final SoftProtectionDomain domain;
    private final Transport transport;
    /// Whether each request says where it goes.
    private final boolean isAddressed;
    private final SendQueue queue;
    private final int maxSge;
    private final int maxInlineBytes;
    private final Set<Capability> extensions;
    private final ReentrantLock turn = new ReentrantLock();
    private final Posting.Dropper dropper = this::drop;
    private @Nullable SendRequest current;
    /// Of the messages that are complete and not submitted.
    private long bytes;

    SoftSends(
            SoftQueuePair qp,
            SoftProtectionDomain domain,
            Transport transport,
            SendQueue queue,
            QueuePairOptions options) {
        this.qp = qp;
        this.domain = domain;
        this.transport = transport;
        this.isAddressed = transport == Transport.UD || transport == Transport.XRC;
        this.queue = queue;
        this.maxSge = options.maxSendSge();
        this.maxInlineBytes = options.maxInlineBytes();
        this.extensions = options.extensions();
    }

    SoftSends begin() {
        if (turn.isHeldByCurrentThread()) {
            throw new InvalidStateException("send: this thread has a batch of " + qp + " open; close it first");
        }
        qp.checkSendable("send");
        turn.lock();
        boolean opened = false;
        try {
            qp.checkSendable("send");
            opened = true;
        } finally {
            if (!opened) {
                turn.unlock();
            }
        }
        return this;
    }

    /// @throws InvalidStateException when this thread has a batch open
    void checkNotMine(String verb) {
        if (turn.isHeldByCurrentThread()) {
            throw new InvalidStateException(verb + ": this thread has a batch of " + qp + " open; close it first");
        }
    }

    /// Keeps posters away; not while this thread has a batch open.
    void lock() {
        turn.lock();
    }

    /// Requests that are posted and not done; any thread.
    long outstanding() {
        long retired = queue.retired(); // first, so that this is never negative
        return queue.published() - retired;
    }

    boolean tryLock() {
        return turn.tryLock();
    }

    void unlock() {
        turn.unlock();
    }

    // ---- a request begins

    @Override
    public SendBatch send(long wrId) {
        begin(SendOperation.SEND, wrId);
        return this;
    }

    @Override
    public SendBatch sendWithImmediate(long wrId, int immediate) {
        domain.soft().require("sendWithImmediate", Capability.SEND_WITH_IMMEDIATE);
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
        remote(SendOperation.WRITE, wrId, remoteAddress, rkey);
        return this;
    }

    @Override
    public SendBatch writeWithImmediate(long wrId, long remoteAddress, int rkey, int immediate) {
        remote(SendOperation.WRITE_WITH_IMMEDIATE, wrId, remoteAddress, rkey).immediateOrKey = immediate;
        return this;
    }

    @Override
    public SendBatch read(long wrId, long remoteAddress, int rkey) {
        remote(SendOperation.READ, wrId, remoteAddress, rkey);
        return this;
    }

    @Override
    public SendBatch fetchAdd(long wrId, long remoteAddress, int rkey, long add) {
        remote(SendOperation.FETCH_ADD, wrId, remoteAddress, rkey).operand = add;
        return this;
    }

    @Override
    public SendBatch compareSwap(long wrId, long remoteAddress, int rkey, long compare, long swap) {
        SendRequest request = remote(SendOperation.COMPARE_SWAP, wrId, remoteAddress, rkey);
        request.operand = compare;
        request.swap = swap;
        return this;
    }

    @Override
    public SendBatch atomicWrite(long wrId, long remoteAddress, int rkey, long value) {
        SendRequest request = remote(SendOperation.ATOMIC_WRITE, wrId, remoteAddress, rkey);
        checkExtension(Capability.ATOMIC_WRITE);
        request.operand = value;
        return this;
    }

    @Override
    public SendBatch flush(
            long wrId, long remoteAddress, int rkey, int length, boolean wholeRegion, boolean global, boolean persist) {
        SendRequest request = remote(SendOperation.FLUSH, wrId, remoteAddress, rkey);
        checkExtension(Capability.FLUSH);
        if (length < 0) {
            throw new IllegalArgumentException(drop() + "flush: length: not negative, got " + length);
        }
        if (!global && !persist) {
            throw new IllegalArgumentException(drop() + "flush: at least one of global and persist");
        }
        request.flushBytes = length;
        request.flushSelectivity = wholeRegion ? Feth.WHOLE_REGION : Feth.RANGE;
        request.flushPlacement = (global ? Feth.GLOBAL_VISIBILITY : 0) | (persist ? Feth.PERSISTENCE : 0);
        return this;
    }

    /// What many peers do not know, and leave without an answer, is posted only by those who said that they mean
    /// it.
    private void checkExtension(Capability extension) {
        if (!extensions.contains(extension)) {
            throw new InvalidStateException(
                    drop() + "this queue pair was not made for " + extension + "; see QueuePairOptions.withExtensions");
        }
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
        SendRequest request = begin(SendOperation.BIND_WINDOW, wrId);
        if (!(window instanceof SoftMemoryWindow own)) {
            throw new IllegalArgumentException(drop() + "bindWindow: window: of another device");
        }
        if (!(region instanceof SoftMemoryRegion of)) {
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
        int bits = 0;
        for (Access one : access) {
            bits |= one.bit();
        }
        if ((bits & ~WINDOW_ACCESS) != 0) {
            throw new IllegalArgumentException(drop() + "bindWindow: access: REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC"
                    + " and ZERO_BASED, got " + access);
        }
        request.rkey = rkey;
        request.window = own.window();
        request.windowRegion = of.region();
        request.windowAddress = address;
        request.windowBytes = length;
        request.windowAccess = bits;
        return this;
    }

    // ---- what belongs to it

    @Override
    public SendBatch sge(MemoryRegion region, long offset, int length) {
        SendRequest request = current();
        Posting.check(region, offset, length, domain, dropper);
        return add(request, region.lkey(), region.address() + offset, length);
    }

    @Override
    public SendBatch sge(int lkey, long address, int length) {
        SendRequest request = current();
        if (length < 0) {
            throw new IllegalArgumentException(drop() + "sge: length: not negative, got " + length);
        }
        return add(request, lkey, address, length);
    }

    private SendBatch add(SendRequest request, int lkey, long address, int length) {
        if (request.operation.isLocal()
                || request.operation == SendOperation.FLUSH
                || request.operation == SendOperation.ATOMIC_WRITE) {
            throw new IllegalArgumentException(drop() + "sge: " + name(request) + " has no data");
        }
        if (request.isInline) {
            throw new IllegalArgumentException(drop() + "sge: the request's data is inline; it is one or the other");
        }
        if (request.scatter.isFull()) {
            throw new IllegalArgumentException(drop() + "sge: " + (maxSge + 1) + " entries, maxSendSge is " + maxSge);
        }
        if (request.scatter.bytes + length > DeviceLimits.MESSAGE_BYTES_MAX) {
            throw new IllegalArgumentException(drop() + "sge: the entries sum up to more than 2^31 bytes");
        }
        request.scatter.add(lkey, address, length);
        return this;
    }

    @Override
    public SendBatch inline(MemorySegment data) {
        SendRequest request = current();
        if (request.operation.isLocal() || request.operation.needsResponse()) {
            throw new IllegalArgumentException(
                    drop() + "inline: " + name(request) + " carries no data; SEND and WRITE do");
        }
        if (request.scatter.count > 0) {
            throw new IllegalArgumentException(
                    drop() + "inline: the request has scatter/gather entries; it is one or the other");
        }
        long bytes = data.byteSize();
        if (bytes > maxInlineBytes - request.inlineBytes) {
            String place = drop();
            throw new ResourceLimitException(
                    place + "inline",
                    "maxInlineBytes",
                    maxInlineBytes,
                    (request.inlineBytes + bytes) + " bytes do not fit; make the queue pair with more, or use sge");
        }
        MemorySegment.copy(data, 0, request.inline, request.inlineBytes, bytes);
        request.inlineBytes += (int) bytes;
        request.isInline = true;
        return this;
    }

    @Override
    public SendBatch signaled() {
        current().signaled = true;
        return this;
    }

    @Override
    public SendBatch fenced() {
        current().fenced = true;
        return this;
    }

    @Override
    public SendBatch solicited() {
        current().solicited = true;
        return this;
    }

    @Override
    public SendBatch to(AddressHandle handle, int qpn, int qkey) {
        SendRequest request = current();
        if (transport != Transport.UD) {
            throw new IllegalArgumentException(
                    drop() + "to: " + qp + " is of type " + qp.type() + ", which has one peer; only UD chooses");
        }
        if (!(handle instanceof SoftAddressHandle way)) {
            throw new IllegalArgumentException(drop() + "to: handle: of another device");
        }
        if (!way.isOpen()) {
            throw new InvalidStateException(drop() + "to: " + way + " is closed");
        }
        if (!way.protectionDomain().equals(domain)) {
            throw new IllegalArgumentException(
                    drop() + "to: handle: of " + way.protectionDomain() + ", and the request is of " + domain);
        }
        if (qpn < 0 || qpn > 0xFF_FFFF) {
            throw new IllegalArgumentException(drop() + "to: qpn: 0 to 0xffffff, got 0x" + Integer.toHexString(qpn));
        }
        request.path = way.path();
        request.destinationQpn = qpn;
        request.qkey = qkey;
        return this;
    }

    @Override
    public SendBatch to(int srqNumber) {
        SendRequest request = current();
        if (transport != Transport.XRC) {
            throw new IllegalArgumentException(drop() + "to: " + qp + " is of type " + qp.type()
                    + "; only XRC_INITIATOR names a queue of the peer");
        }
        if (srqNumber < 0 || srqNumber > 0xFF_FFFF) {
            throw new IllegalArgumentException(
                    drop() + "to: srqNumber: 0 to 0xffffff, got 0x" + Integer.toHexString(srqNumber));
        }
        request.srqNumber = srqNumber;
        return this;
    }

    @Override
    public void fail(WcStatus status, String cause) {
        current().fail(status, cause);
    }

    // ---- the end

    @Override
    public int submit() {
        checkOpen();
        finish();
        qp.checkSendable("submit");
        int n = queue.publish();
        if (n > 0) {
            qp.ring(n, bytes);
        }
        bytes = 0;
        return n;
    }

    @Override
    public void close() {
        if (!turn.isHeldByCurrentThread()) {
            return;
        }
        queue.abandon();
        current = null;
        bytes = 0;
        turn.unlock();
        qp.onBatchClosed();
    }

    // ---- leaves

    private SendRequest remote(SendOperation operation, long wrId, long remoteAddress, int rkey) {
        SendRequest request = begin(operation, wrId);
        request.remoteAddress = remoteAddress;
        request.rkey = rkey;
        return request;
    }

    private SendRequest begin(SendOperation operation, long wrId) {
        checkOpen();
        finish();
        if (!queue.hasRoom()) {
            throw new ResourceLimitException(
                    "batch request " + (queue.claimed() + 1) + " (wrId " + wrId + ")",
                    "maxSendWr",
                    queue.capacity(),
                    "the send queue is full; a request leaves it when it, or one after it, has completed");
        }
        SendRequest request = queue.claim();
        request.begin(operation, wrId);
        current = request;
        if (!Messages.carries(transport, operation)) {
            throw new IllegalArgumentException(
                    drop() + operation + ": a queue pair of type " + qp.type() + " has no such request");
        }
        return request;
    }

    /// The request is complete: checks what could not be checked before.
    private void finish() {
        SendRequest request = current;
        if (request != null) {
            if (request.operation.isAtomic()) {
                checkAtomic(request);
            }
            if (isAddressed && !request.operation.isLocal()) {
                checkAddressed(request);
            }
            bytes += request.bytes();
        }
        current = null;
    }

    private void checkAtomic(SendRequest request) {
        int count = request.scatter.count;
        if (count != 1 || request.scatter.lengths[0] != Long.BYTES) {
            throw new IllegalArgumentException(drop() + name(request)
                    + ": the value before goes to exactly one sge of 8 bytes, got "
                    + (count == 1 ? "one of " + request.scatter.lengths[0] + " bytes" : count + " of them"));
        }
    }

    private void checkAddressed(SendRequest request) {
        if (transport == Transport.XRC) {
            if (request.srqNumber < 0) {
                throw new IllegalArgumentException(
                        drop() + name(request) + ": name the peer's shared receive queue: to(srqNumber)");
            }
            return;
        }
        if (request.path == null) {
            throw new IllegalArgumentException(drop() + name(request) + ": name the receiver: to(handle, qpn, qkey)");
        }
        int max = domain.soft().mtu().bytes();
        if (request.bytes() > max) {
            String place = drop();
            throw new IllegalArgumentException(place + name(request) + ": a datagram has at most " + max
                    + " bytes, the port's active MTU, got " + request.bytes());
        }
    }

    private static String name(SendRequest request) {
        return request.operation.toString();
    }

    private void checkOpen() {
        if (!turn.isHeldByCurrentThread()) {
            throw new InvalidStateException("batch: not open, or another thread's");
        }
    }

    private SendRequest current() {
        checkOpen();
        SendRequest request = current;
        if (request == null) {
            throw new InvalidStateException("batch: begin a request first: send, write, read, ...");
        }
        return request;
    }

    /// Takes the request with a mistake back; returns what its message begins with.
    private String drop() {
        SendRequest request = current();
        String place = "batch request " + queue.claimed() + " (wrId " + request.wrId + "): ";
        queue.unclaim();
        current = null;
        return place;
    }
}
