package verbena.check.device;

import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.check.TrackedPair;
import verbena.check.TrackedReceives;
import verbena.check.TrackedRequest;
import verbena.check.Watcher.Event;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ReceiveBatch;

/// The layer in front of a batch of receives.
final class CheckedReceives implements ReceiveBatch {
    private final Layer layer;
    private final ReceiveBatch inner;
    private final @Nullable TrackedPair pair;
    private final TrackedReceives receives;
    private final TrackedBatch batch;

    /// @param pair null for a shared receive queue
    CheckedReceives(Layer layer, ReceiveBatch inner, @Nullable TrackedPair pair, TrackedReceives receives) {
        this.layer = layer;
        this.inner = inner;
        this.pair = pair;
        this.receives = receives;
        this.batch = new TrackedBatch(layer.checker());
    }

    @Override
    public ReceiveBatch receive(long wrId) {
        inner.receive(wrId);
        batch.begin(new TrackedRequest(pair, null, wrId, 0, 0));
        return this;
    }

    @Override
    public ReceiveBatch sge(MemoryRegion region, long offset, long length) {
        batch.step(() -> inner.sge(CheckedObject.below(region), offset, length), request -> {
            if (region instanceof CheckedRegion checked) {
                request.add(Layer.piece(checked.tracked(), offset, length));
            }
        });
        return this;
    }

    @Override
    public ReceiveBatch sge(int lkey, long address, long length) {
        batch.step(() -> inner.sge(lkey, address, length), request -> request.add(layer.piece(lkey, address, length)));
        return this;
    }

    @Override
    public int submit() {
        return pair == null
                ? batch.submit(this::beginShared, _ -> inner.submit(), receives::withdraw)
                : batch.submit(pair::beginReceives, _ -> inner.submit(), pair::withdrawReceives);
    }

    private void beginShared(List<TrackedRequest> requests) {
        receives.add(requests);
        layer.checker().hear(Event.SHARED, watcher -> watcher.onShared(receives));
    }

    @Override
    public void discard() {
        batch.clear();
        inner.discard();
    }

    @Override
    public void close() {
        batch.clear();
        inner.close();
    }
}
