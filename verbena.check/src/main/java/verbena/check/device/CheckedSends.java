package verbena.check.device;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import verbena.check.CallPlace;
import verbena.check.TrackedPair;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Binding;
import verbena.check.TrackedRequest.Destination;
import verbena.check.TrackedRequest.Flag;
import verbena.check.TrackedRequest.Flushing;
import verbena.check.Watcher.Event;
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
    private final TrackedBatch batch;

    CheckedSends(Layer layer, SendBatch inner, TrackedPair pair) {
        this.layer = layer;
        this.inner = inner;
        this.pair = pair;
        this.batch = new TrackedBatch(layer.checker());
    }

    private void begin(Runnable below) {
        try {
            below.run();
        } catch (ResourceLimitException e) {
            CallPlace place = CallPlace.here();
            layer.checker().hear(Event.FULL, watcher -> watcher.onFull(pair, batch.all(), place));
            throw e;
        }
    }

    private SendBatch begun(SendOperation operation, long wrId, long remoteAddress, int rkey) {
        var request = new TrackedRequest(pair, operation, wrId, remoteAddress, rkey);
        if (pair.options().signalAll()) {
            request.set(Flag.SIGNALED);
        }
        batch.begin(request);
        return this;
    }

    /// Takes a step on the request that was begun last, and notes it.
    final SendBatch step(Runnable below, Consumer<TrackedRequest> note) {
        batch.step(below, note);
        return this;
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
        begun(SendOperation.FLUSH, wrId, remoteAddress, rkey);
        return step(() -> {}, request -> request.detail(new Flushing(length, targets)));
    }

    @Override
    public final SendBatch flushRegion(long wrId, int rkey, Set<FlushTarget> targets) {
        begin(() -> inner.flushRegion(wrId, rkey, targets));
        begun(SendOperation.FLUSH, wrId, 0, rkey);
        return step(() -> {}, request -> request.detail(new Flushing(0, targets)));
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
        begun(SendOperation.BIND_WINDOW, wrId, 0, rkey);
        return step(() -> {}, request -> {
            if (region instanceof CheckedRegion checked) {
                boolean isOfPair = window.type() == MemoryWindow.Type.TYPE_2;
                request.detail(new Binding(checked.tracked(), address, length, access, isOfPair));
            }
        });
    }

    @Override
    public final SendBatch sge(MemoryRegion region, long offset, long length) {
        return step(() -> inner.sge(CheckedObject.below(region), offset, length), request -> {
            if (region instanceof CheckedRegion checked) {
                request.add(Layer.piece(checked.tracked(), offset, length));
            }
        });
    }

    @Override
    public final SendBatch sge(int lkey, long address, long length) {
        return step(() -> inner.sge(lkey, address, length), request -> request.add(layer.piece(lkey, address, length)));
    }

    @Override
    public final SendBatch inline(MemorySegment data) {
        return step(() -> inner.inline(data), request -> request.addInline(data.byteSize()));
    }

    @Override
    public final SendBatch signaled() {
        return step(inner::signaled, request -> request.set(Flag.SIGNALED));
    }

    @Override
    public final SendBatch fenced() {
        return step(inner::fenced, request -> request.set(Flag.FENCED));
    }

    @Override
    public final SendBatch solicited() {
        return step(inner::solicited, _ -> {});
    }

    @Override
    public final SendBatch to(AddressHandle handle, int qpn, int qkey) {
        return step(
                () -> inner.to(CheckedObject.below(handle), qpn, qkey),
                request -> request.detail(new Destination(handle, handle.vector(), qpn, qkey)));
    }

    @Override
    public final SendBatch to(int srqNumber) {
        return step(() -> inner.to(srqNumber), _ -> {});
    }

    @Override
    public final int submit() {
        return batch.submit(pair::begin, this::submit, pair::withdraw);
    }

    private int submit(List<TrackedRequest> posted) {
        layer.checker().onSubmit(pair, posted);
        int handed = inner.submit();
        layer.checker().onSubmitted(pair);
        return handed;
    }

    @Override
    public final void discard() {
        batch.clear();
        inner.discard();
    }

    @Override
    public final void close() {
        batch.clear();
        inner.close();
    }
}
