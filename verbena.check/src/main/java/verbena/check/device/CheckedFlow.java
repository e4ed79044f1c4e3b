package verbena.check.device;

import verbena.verbs.FlowRule;
import verbena.verbs.PacketFlow;
import verbena.verbs.QueuePair;

/// The layer in front of a flow.
final class CheckedFlow extends CheckedObject<PacketFlow> implements PacketFlow {
    CheckedFlow(Layer layer, PacketFlow inner) {
        super(layer, inner);
    }

    @Override
    public QueuePair queuePair() {
        return layer().outer(QueuePair.class, inner().queuePair());
    }

    @Override
    public FlowRule rule() {
        return inner().rule();
    }

    @Override
    public long packets() {
        return inner().packets();
    }

    @Override
    public long bytes() {
        return inner().bytes();
    }
}
