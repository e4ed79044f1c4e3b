package verbena.check.device;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.TrackedPair;
import verbena.check.TrackedReceives;
import verbena.check.TrackedRequest;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ReceiveBatch;

/// The layer in front of a batch of receives.
final class CheckedReceives implements ReceiveBatch {
    private final Layer layer;
    private final ReceiveBatch inner;
    private final @Nullable TrackedPair pair;
    private final TrackedReceives receives;
    private final List<TrackedRequest> requests = new ArrayList<>(1);

    /// @param pair null for a shared receive queue
    CheckedReceives(Layer layer, ReceiveBatch inner, @Nullable TrackedPair pair, TrackedReceives receives) {
        this.layer = layer;
        this.inner = inner;
        this.pair = pair;
        this.receives = receives;
    }

    @Override
    public ReceiveBatch receive(long wrId) {
        inner.receive(wrId);
        requests.add(new TrackedRequest(pair, null, wrId, 0, 0));
        return this;
    }

    private void step(Runnable below) {
        boolean done = false;
        try {
            below.run();
            done = true;
        } finally {
            if (!done && !requests.isEmpty()) {
                requests.removeLast(); // the device has dropped it
            }
        }
    }

    @Override
    public ReceiveBatch sge(MemoryRegion region, long offset, long length) {
        step(() -> inner.sge(CheckedObject.below(region), offset, length));
        if (!requests.isEmpty() && region instanceof CheckedRegion checked) {
            requests.getLast().pieces().add(Layer.piece(checked.tracked(), offset, length));
        }
        return this;
    }

    @Override
    public ReceiveBatch sge(int lkey, long address, long length) {
        step(() -> inner.sge(lkey, address, length));
        if (!requests.isEmpty()) {
            requests.getLast().pieces().add(layer.piece(lkey, address, length));
        }
        return this;
    }

    @Override
    public int submit() {
        List<TrackedRequest> posted = List.copyOf(requests);
        CallPlace place = CallPlace.here();
        posted.forEach(request -> request.place(place));
        if (pair == null) {
            receives.add(posted);
        } else {
            pair.beginReceives(posted);
        }
        layer.checker().onPost(posted);
        boolean done = false;
        try {
            int handed = inner.submit();
            done = true;
            return handed;
        } finally {
            requests.clear();
            if (!done) {
                withdraw(posted);
            }
        }
    }

    private void withdraw(List<TrackedRequest> posted) {
        if (pair == null) {
            receives.withdraw(posted);
        } else {
            pair.withdrawReceives(posted);
        }
        layer.checker().onDrop(posted);
    }

    @Override
    public void discard() {
        requests.clear();
        inner.discard();
    }

    @Override
    public void close() {
        requests.clear();
        inner.close();
    }
}
