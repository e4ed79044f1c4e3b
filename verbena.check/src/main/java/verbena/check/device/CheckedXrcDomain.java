package verbena.check.device;

import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.XrcDomain;

/// The layer in front of a domain of extended reliable connections. A target sends nothing and has no receives, so
/// nothing is noted of it.
final class CheckedXrcDomain extends CheckedObject<XrcDomain> implements XrcDomain {
    CheckedXrcDomain(Layer layer, XrcDomain inner) {
        super(layer, inner);
    }

    @Override
    public Context context() {
        return layer().outer(Context.class, inner().context());
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(
            ProtectionDomain domain, CompletionQueue cq, int maxWr, int maxSge) {
        return new CheckedSharedQueue(
                layer(),
                inner().createSharedReceiveQueue(CheckedObject.below(domain), CheckedObject.below(cq), maxWr, maxSge),
                cq instanceof CheckedQueue checked ? checked.tracked() : null);
    }

    @Override
    public QueuePair createTarget() {
        return CheckedPair.target(layer(), inner().createTarget());
    }
}
