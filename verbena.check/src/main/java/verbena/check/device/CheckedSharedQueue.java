package verbena.check.device;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import verbena.check.TrackedQueue;
import verbena.check.TrackedReceives;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SharedReceiveQueue;

/// The layer in front of a shared receive queue.
final class CheckedSharedQueue extends CheckedObject<SharedReceiveQueue> implements SharedReceiveQueue {
    private final TrackedReceives receives;
    private final @Nullable TrackedQueue extended;

    /// @param extended the completion queue of its own, which it has for targets of XRC; null for other queue pairs
    CheckedSharedQueue(Layer layer, SharedReceiveQueue inner, @Nullable TrackedQueue extended) {
        super(layer, inner);
        this.receives = TrackedReceives.shared(inner::limit);
        this.extended = extended;
        if (extended != null) {
            receives.lead(extended);
            extended.extended().add(receives);
        }
    }

    @Override
    void closed() {
        if (extended != null) {
            extended.extended().remove(receives);
            receives.leadNoMore(extended);
        }
        layer().checker().onDrop(receives.clear());
    }

    TrackedReceives receives() {
        return receives;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return layer().outer(ProtectionDomain.class, inner().protectionDomain());
    }

    @Override
    public OptionalInt number() {
        return inner().number();
    }

    @Override
    public int maxWr() {
        return inner().maxWr();
    }

    @Override
    public int maxSge() {
        return inner().maxSge();
    }

    @Override
    public ReceiveBatch receiveBatch() {
        return new CheckedReceives(layer(), inner().receiveBatch(), null, receives);
    }

    @Override
    public void armLimit(int limit) {
        inner().armLimit(limit);
        if (limit > 0) {
            receives.arm(limit);
        }
    }

    @Override
    public int limit() {
        return inner().limit();
    }
}
