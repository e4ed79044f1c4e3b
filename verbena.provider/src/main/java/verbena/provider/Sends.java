package verbena.provider;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Endpoint;
import verbena.verbs.FlushTarget;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.UnsupportedException;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.SendOperation;

/// The posting side of a send queue: one per queue pair, used again for every batch. Here is what a request may look
/// like; a device's class writes it down.
public abstract class Sends extends Batch implements SendBatch {
    // The values of `enum ibv_send_flags`.
    protected static final int FENCED = 1;
    protected static final int SIGNALED = 2;
    protected static final int SOLICITED = 4;
    protected static final int INLINE = 8;

    private static final Words WORDS =
            new Words("send", "request", "maxSendWr", "maxSendSge", "begin a request first: send, write, read, ...");
    private static final int WINDOW_ACCESS =
            Access.bits(Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.ZERO_BASED));
    private final Context context;
    private final QpType type;
    /// Whether each request names its receiver.
    private final boolean isAddressed;
    private final int maxInlineBytes;
    /// A bit for each operation that this queue pair takes, by its ordinal.
    private final int taken;

    // Of the request that was begun last.
    private SendOperation operation = SendOperation.SEND;
    private int flags;
    private boolean hasTarget;

    protected Sends(OwnedObject queuePair, ProtectionDomain domain, QueuePairOptions options) {
        super(WORDS, queuePair, domain, options.maxSendSge());
        this.context = domain.context();
        this.type = options.type();
        this.isAddressed = type == QpType.UD || type == QpType.XRC_INITIATOR;
        this.maxInlineBytes = options.maxInlineBytes();
        Set<Capability> capabilities = context.attributes().capabilities();
        int bits = 0;
        for (SendOperation each : SendOperation.values()) {
            Capability needed = each.capability();
            boolean isHad = needed == null || capabilities.contains(needed);
            if (isHad
                    && each.isOf(type)
                    && (!each.isExtension() || options.extensions().contains(needed))) {
                bits |= 1 << each.ordinal();
            }
        }
        this.taken = bits;
    }

    // ---- what the device does

    /// Claims a place for a request and writes these. Fields that the request does not set are 0.
    protected abstract void claim(SendOperation operation, long wrId);

    /// Writes immediate data, or the key to invalidate, as the operation asks.
    protected abstract void putImmediateOrKey(int value);

    /// Writes which memory of the peer a WRITE, a READ or an extension names.
    protected abstract void putRemote(long address, int rkey);

    /// Writes the parameters of an atomic, except its entry.
    ///
    /// @param operand the value to add, or to compare with
    protected abstract void putAtomic(long address, int rkey, long operand, long swap);

    protected abstract void putAtomicWrite(long address, int rkey, long value);

    protected abstract void putFlush(
            long address, int rkey, int length, boolean wholeRegion, boolean global, boolean persist);

    /// Writes the parameters of a bind. Window and region are this device's.
    protected abstract void putBind(
            MemoryWindow window, int rkey, MemoryRegion region, long address, long length, int access);

    /// Copies data behind the inline data of the request, of which there are so many bytes.
    protected abstract void putInline(MemorySegment data, int before);

    /// Writes the receiver of a datagram.
    protected abstract void putTarget(AddressHandle handle, int qpn, int qkey);

    protected abstract void putSharedReceiveQueue(int srqNumber);

    /// Completes the request, which is right as far as this class can check.
    ///
    /// @param withFlags [#FENCED] and the like
    protected abstract void complete(int withFlags);

    /// Hands the batch over; returns how many requests it had.
    protected abstract int handOver();

    /// Returns the length of the longest datagram.
    protected abstract int datagramBytesMax();

    /// Returns the window as this device's object; null when another device has made it.
    protected abstract @Nullable OwnedObject own(MemoryWindow window);

    /// Returns the device's own object of an address handle; null when the handle is of another device.
    protected abstract @Nullable OwnedObject own(AddressHandle handle);

    // ---- a request begins

    /// Opens the batch in this thread.
    public final SendBatch begin() {
        open();
        return this;
    }

    @Override
    public final SendBatch send(long wrId) {
        begin(SendOperation.SEND, wrId);
        return this;
    }

    @Override
    public final SendBatch sendWithImmediate(long wrId, int immediate) {
        begin(SendOperation.SEND_WITH_IMMEDIATE, wrId);
        putImmediateOrKey(immediate);
        return this;
    }

    @Override
    public final SendBatch sendWithInvalidate(long wrId, int rkey) {
        begin(SendOperation.SEND_WITH_INVALIDATE, wrId);
        putImmediateOrKey(rkey);
        return this;
    }

    @Override
    public final SendBatch write(long wrId, long remoteAddress, int rkey) {
        begin(SendOperation.WRITE, wrId);
        putRemote(remoteAddress, rkey);
        return this;
    }

    @Override
    public final SendBatch writeWithImmediate(long wrId, long remoteAddress, int rkey, int immediate) {
        begin(SendOperation.WRITE_WITH_IMMEDIATE, wrId);
        putRemote(remoteAddress, rkey);
        putImmediateOrKey(immediate);
        return this;
    }

    @Override
    public final SendBatch read(long wrId, long remoteAddress, int rkey) {
        begin(SendOperation.READ, wrId);
        putRemote(remoteAddress, rkey);
        return this;
    }

    @Override
    public final SendBatch fetchAdd(long wrId, long remoteAddress, int rkey, long add) {
        begin(SendOperation.FETCH_ADD, wrId);
        putAtomic(remoteAddress, rkey, add, 0);
        return this;
    }

    @Override
    public final SendBatch compareSwap(long wrId, long remoteAddress, int rkey, long compare, long swap) {
        begin(SendOperation.COMPARE_SWAP, wrId);
        putAtomic(remoteAddress, rkey, compare, swap);
        return this;
    }

    @Override
    public final SendBatch atomicWrite(long wrId, long remoteAddress, int rkey, long value) {
        begin(SendOperation.ATOMIC_WRITE, wrId);
        putAtomicWrite(remoteAddress, rkey, value);
        return this;
    }

    @Override
    public final SendBatch flush(long wrId, long remoteAddress, int rkey, int length, Set<FlushTarget> targets) {
        flush(wrId, remoteAddress, rkey, length, false, targets);
        return this;
    }

    @Override
    public final SendBatch flushRegion(long wrId, int rkey, Set<FlushTarget> targets) {
        flush(wrId, 0, rkey, 0, true, targets);
        return this;
    }

    private void flush(
            long wrId, long remoteAddress, int rkey, int length, boolean wholeRegion, Set<FlushTarget> targets) {
        begin(SendOperation.FLUSH, wrId);
        checkLength("flush", length);
        if (targets.isEmpty()) {
            throw new IllegalArgumentException(drop() + "flush: targets: at least one");
        }
        putFlush(
                remoteAddress,
                rkey,
                length,
                wholeRegion,
                targets.contains(FlushTarget.GLOBAL),
                targets.contains(FlushTarget.PERSISTENT));
    }

    @Override
    public final SendBatch localInvalidate(long wrId, int rkey) {
        begin(SendOperation.LOCAL_INVALIDATE, wrId);
        putImmediateOrKey(rkey);
        return this;
    }

    @Override
    public final SendBatch bindWindow(
            long wrId,
            MemoryWindow window,
            int rkey,
            MemoryRegion region,
            long address,
            long length,
            Set<Access> access) {
        begin(SendOperation.BIND_WINDOW, wrId);
        OwnedObject ownWindow = own(window);
        if (ownWindow == null) {
            throw new IllegalArgumentException(drop() + "bindWindow: window: of another device");
        }
        OwnedObject ownRegion = own(region);
        if (ownRegion == null) {
            throw new IllegalArgumentException(drop() + "bindWindow: region: of another device");
        }
        checkOwn("bindWindow", "window", ownWindow, window.protectionDomain());
        checkOwn("bindWindow", "region", ownRegion, region.protectionDomain());
        checkLength("bindWindow", length);
        int bits = Access.bits(access);
        if ((bits & ~WINDOW_ACCESS) != 0) {
            throw new IllegalArgumentException(drop() + "bindWindow: access: REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC"
                    + " and ZERO_BASED, got " + access);
        }
        putBind(window, rkey, region, address, length, bits);
        return this;
    }

    private void begin(SendOperation fresh, long wrId) {
        checkOpen();
        finish();
        boolean isTaken = (taken & 1 << fresh.ordinal()) != 0;
        if (!isTaken) {
            checkCapability(fresh);
        }
        checkRoom(wrId);
        claim(fresh, wrId);
        begun(wrId);
        operation = fresh;
        flags = 0;
        hasTarget = false;
        if (!isTaken) {
            throw refused(fresh);
        }
    }

    private void checkCapability(SendOperation fresh) {
        Capability needed = fresh.capability();
        if (needed != null && !context.attributes().has(needed)) {
            excuse();
            throw new UnsupportedException(
                    fresh.toString(), needed, context.device().name());
        }
    }

    private RuntimeException refused(SendOperation fresh) {
        if (fresh.isOf(type)) {
            return new InvalidStateException(
                    drop() + "this queue pair was not made for " + fresh + "; see QueuePairOptions.withExtensions");
        }
        return new IllegalArgumentException(drop() + fresh + ": a queue pair of type " + type + " has no such request");
    }

    // ---- what belongs to it

    @Override
    public final SendBatch sge(MemoryRegion region, long offset, long length) {
        checkBegun();
        checkEntries();
        entry(region, offset, length);
        return this;
    }

    @Override
    public final SendBatch sge(int lkey, long address, long length) {
        checkBegun();
        checkEntries();
        entry(lkey, address, length);
        return this;
    }

    private void checkEntries() {
        if (!operation.takesEntries()) {
            throw new IllegalArgumentException(drop() + "sge: " + operation + " has no data");
        }
        if ((flags & INLINE) != 0) {
            throw new IllegalArgumentException(drop() + "sge: the request's data is inline; it is one or the other");
        }
    }

    @Override
    public final SendBatch inline(MemorySegment data) {
        checkBegun();
        if (!operation.carriesData()) {
            throw new IllegalArgumentException(drop() + "inline: " + operation + " carries no data; SEND and WRITE do");
        }
        if (entries() > 0) {
            throw new IllegalArgumentException(
                    drop() + "inline: the request has scatter/gather entries; it is one or the other");
        }
        long before = bytes();
        long more = data.byteSize();
        if (more > maxInlineBytes - before) {
            throw new ResourceLimitException(
                    drop() + "inline",
                    "maxInlineBytes",
                    maxInlineBytes,
                    (before + more) + " bytes do not fit; make the queue pair with more, or use sge");
        }
        putInline(data, (int) before);
        addBytes(more);
        flags |= INLINE;
        return this;
    }

    @Override
    public final SendBatch signaled() {
        return with(SIGNALED);
    }

    @Override
    public final SendBatch fenced() {
        return with(FENCED);
    }

    @Override
    public final SendBatch solicited() {
        return with(SOLICITED);
    }

    private SendBatch with(int flag) {
        checkBegun();
        flags |= flag;
        return this;
    }

    @Override
    public final SendBatch to(AddressHandle handle, int qpn, int qkey) {
        checkBegun();
        if (type != QpType.UD) {
            throw new IllegalArgumentException(
                    drop() + "to: " + owner + " is of type " + type + ", which has one peer; only UD chooses");
        }
        OwnedObject way = own(handle);
        if (way == null) {
            throw new IllegalArgumentException(drop() + "to: handle: of another device");
        }
        checkOwn("to", "handle", way, handle.protectionDomain());
        checkNumber("qpn", qpn);
        putTarget(handle, qpn, qkey);
        hasTarget = true;
        return this;
    }

    @Override
    public final SendBatch to(int srqNumber) {
        checkBegun();
        if (type != QpType.XRC_INITIATOR) {
            throw new IllegalArgumentException(
                    drop() + "to: " + owner + " is of type " + type + "; only XRC_INITIATOR names a queue of the peer");
        }
        checkNumber("srqNumber", srqNumber);
        putSharedReceiveQueue(srqNumber);
        hasTarget = true;
        return this;
    }

    private void checkNumber(String name, int value) {
        if (value < 0 || value > Endpoint.QPN_MASK) {
            throw new IllegalArgumentException(
                    drop() + "to: " + name + ": 0 to 0xffffff, got 0x" + Integer.toHexString(value));
        }
    }

    /// Marks the request as faulty: the device is to fail it ([SendOperation#FAULTY]).
    protected final void faulty() {
        operation = SendOperation.FAULTY;
    }

    // ---- the end

    @Override
    public final int submit() {
        checkOpen();
        finish();
        excuse();
        checkPostable("submit");
        return handOver();
    }

    @Override
    public final void discard() {
        if (isMine()) {
            boolean _ = end();
            forget();
        }
    }

    /// Completes the request after the checks that were not possible before.
    private void finish() {
        if (!end()) {
            return;
        }
        if (operation.isAtomic()) {
            checkAtomic();
        }
        if (isAddressed && !operation.isLocal()) {
            checkAddressed();
        }
        complete(flags);
    }

    private void checkAtomic() {
        if (entries() != 1 || bytes() != Long.BYTES) {
            throw new IllegalArgumentException(drop() + operation
                    + ": the value before goes to exactly one sge of 8 bytes, got "
                    + (entries() == 1 ? "one of " + bytes() + " bytes" : entries() + " of them"));
        }
    }

    private void checkAddressed() {
        if (!hasTarget) {
            throw new IllegalArgumentException(drop()
                    + operation
                    + (type == QpType.UD
                            ? ": name the receiver: to(handle, qpn, qkey)"
                            : ": name the peer's shared receive queue: to(srqNumber)"));
        }
        if (type == QpType.UD && bytes() > datagramBytesMax()) {
            throw new IllegalArgumentException(drop() + operation + ": a datagram has at most " + datagramBytesMax()
                    + " bytes, the port's active MTU, got " + bytes());
        }
    }

    @Override
    protected final String whenFull() {
        return "the send queue is full; a request leaves it when it, or one after it, has completed";
    }
}
