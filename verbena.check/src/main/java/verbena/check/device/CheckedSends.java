package verbena.check.device;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.TrackedPair;
import verbena.check.TrackedRequest;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.FlushTarget;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.spi.SendOperation;

/// The layer in front of a batch of send requests.
class CheckedSends implements SendBatch {
    private final Layer layer;
    private final SendBatch inner;
    private final TrackedPair pair;
    private final List<TrackedRequest> requests = new ArrayList<>(1);

    CheckedSends(Layer layer, SendBatch inner, TrackedPair pair) {
        this.layer = layer;
        this.inner = inner;
        this.pair = pair;
    }

    private void begin(Runnable below) {
        try {
            below.run();
        } catch (ResourceLimitException e) {
            CallPlace place = CallPlace.here();
            layer.checker().hear(watcher -> watcher.onFull(pair, List.copyOf(requests), place));
            throw e;
        }
    }

    private SendBatch begun(SendOperation operation, long wrId, long remoteAddress, int rkey) {
        var request = new TrackedRequest(pair, operation, wrId, remoteAddress, rkey);
        if (pair.options().signalAll()) {
            request.signal();
        }
        requests.add(request);
        return this;
    }

    /// Returns the request that was begun last; null when there is none, and then the device has said so.
    final @Nullable TrackedRequest current() {
        return requests.isEmpty() ? null : requests.getLast();
    }

    /// Forgets the request that was begun last: the device has refused a part of it, and dropped it.
    private void drop() {
        if (!requests.isEmpty()) {
            requests.removeLast();
        }
    }

    /// Takes a step on the request that was begun last.
    final void step(Runnable below) {
        boolean done = false;
        try {
            below.run();
            done = true;
        } finally {
            if (!done) {
                drop();
            }
        }
    }

    @Override
    public final SendBatch send(long wrId) {
        begin(() -> inner.send(wrId));
        return begun(SendOperation.SEND, wrId, 0, 0);
    }

    @Override
    public final SendBatch sendWithImmediate(long wrId, int immediate) {
        begin(() -> inner.sendWithImmediate(wrId, immediate));
        return begun(SendOperation.SEND_WITH_IMMEDIATE, wrId, 0, 0);
    }

    @Override
    public final SendBatch sendWithInvalidate(long wrId, int rkey) {
        begin(() -> inner.sendWithInvalidate(wrId, rkey));
        return begun(SendOperation.SEND_WITH_INVALIDATE, wrId, 0, rkey);
    }

    @Override
    public final SendBatch write(long wrId, long remoteAddress, int rkey) {
        begin(() -> inner.write(wrId, remoteAddress, rkey));
        return begun(SendOperation.WRITE, wrId, remoteAddress, rkey);
    }

    @Override
    public final SendBatch writeWithImmediate(long wrId, long remoteAddress, int rkey, int immediate) {
        begin(() -> inner.writeWithImmediate(wrId, remoteAddress, rkey, immediate));
        return begun(SendOperation.WRITE_WITH_IMMEDIATE, wrId, remoteAddress, rkey);
    }

    @Override
    public final SendBatch read(long wrId, long remoteAddress, int rkey) {
        begin(() -> inner.read(wrId, remoteAddress, rkey));
        return begun(SendOperation.READ, wrId, remoteAddress, rkey);
    }

    @Override
    public final SendBatch fetchAdd(long wrId, long remoteAddress, int rkey, long add) {
        begin(() -> inner.fetchAdd(wrId, remoteAddress, rkey, add));
        return begun(SendOperation.FETCH_ADD, wrId, remoteAddress, rkey);
    }

    @Override
    public final SendBatch compareSwap(long wrId, long remoteAddress, int rkey, long compare, long swap) {
        begin(() -> inner.compareSwap(wrId, remoteAddress, rkey, compare, swap));
        return begun(SendOperation.COMPARE_SWAP, wrId, remoteAddress, rkey);
    }

    @Override
    public final SendBatch atomicWrite(long wrId, long remoteAddress, int rkey, long value) {
        begin(() -> inner.atomicWrite(wrId, remoteAddress, rkey, value));
        return begun(SendOperation.ATOMIC_WRITE, wrId, remoteAddress, rkey);
    }

    @Override
    public final SendBatch flush(long wrId, long remoteAddress, int rkey, int length, Set<FlushTarget> targets) {
        begin(() -> inner.flush(wrId, remoteAddress, rkey, length, targets));
        return begun(SendOperation.FLUSH, wrId, remoteAddress, rkey);
    }

    @Override
    public final SendBatch flushRegion(long wrId, int rkey, Set<FlushTarget> targets) {
        begin(() -> inner.flushRegion(wrId, rkey, targets));
        return begun(SendOperation.FLUSH, wrId, 0, rkey);
    }

    @Override
    public final SendBatch localInvalidate(long wrId, int rkey) {
        begin(() -> inner.localInvalidate(wrId, rkey));
        return begun(SendOperation.LOCAL_INVALIDATE, wrId, 0, rkey);
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
        begin(() -> inner.bindWindow(
                wrId, CheckedObject.below(window), rkey, CheckedObject.below(region), address, length, access));
        return begun(SendOperation.BIND_WINDOW, wrId, 0, rkey);
    }

    @Override
    public final SendBatch sge(MemoryRegion region, long offset, long length) {
        step(() -> inner.sge(CheckedObject.below(region), offset, length));
        TrackedRequest request = current();
        if (request != null && region instanceof CheckedRegion checked) {
            request.pieces().add(Layer.piece(checked.tracked(), offset, length));
        }
        return this;
    }

    @Override
    public final SendBatch sge(int lkey, long address, long length) {
        step(() -> inner.sge(lkey, address, length));
        TrackedRequest request = current();
        if (request != null) {
            request.pieces().add(layer.piece(lkey, address, length));
        }
        return this;
    }

    @Override
    public final SendBatch inline(MemorySegment data) {
        step(() -> inner.inline(data));
        TrackedRequest request = current();
        if (request != null) {
            request.addInline(data.byteSize());
        }
        return this;
    }

    @Override
    public final SendBatch signaled() {
        step(inner::signaled);
        TrackedRequest request = current();
        if (request != null) {
            request.signal();
        }
        return this;
    }

    @Override
    public final SendBatch fenced() {
        step(inner::fenced);
        TrackedRequest request = current();
        if (request != null) {
            request.fence();
        }
        return this;
    }

    @Override
    public final SendBatch solicited() {
        step(inner::solicited);
        return this;
    }

    @Override
    public final SendBatch to(AddressHandle handle, int qpn, int qkey) {
        step(() -> inner.to(CheckedObject.below(handle), qpn, qkey));
        return this;
    }

    @Override
    public final SendBatch to(int srqNumber) {
        step(() -> inner.to(srqNumber));
        return this;
    }

    @Override
    public final int submit() {
        List<TrackedRequest> posted = List.copyOf(requests);
        CallPlace place = CallPlace.here();
        posted.forEach(request -> request.place(place));
        pair.begin(posted);
        layer.checker().onPost(posted);
        layer.checker().hear(watcher -> watcher.onSubmit(pair, posted));
        boolean done = false;
        try {
            int handed = inner.submit();
            done = true;
            return handed;
        } finally {
            requests.clear();
            if (!done) {
                pair.withdraw(posted);
                layer.checker().onDrop(posted);
            }
        }
    }

    @Override
    public final void discard() {
        requests.clear();
        inner.discard();
    }

    @Override
    public final void close() {
        requests.clear();
        inner.close();
    }
}
