package verbena.nic.device;

import verbena.nic.kind.FlowTarget;
import verbena.nic.kind.FrameFlow;
import verbena.verbs.FlowRule;
import verbena.verbs.PacketFlow;
import verbena.verbs.QueuePair;
import verbena.verbs.spi.OwnedObject;

final class SoftFlow extends OwnedObject implements PacketFlow {
    private final DeviceQueuePair queuePair;
    private final FlowTarget target;
    private final FrameFlow flow;

    <Q extends OwnedObject & DeviceQueuePair> SoftFlow(Q queuePair, FlowTarget target, FlowRule rule) {
        super("flow of " + queuePair);
        this.queuePair = queuePair;
        this.target = target;
        this.flow = new FrameFlow(rule);
        madeFrom(queuePair);
        boolean isAdded = false;
        try {
            queuePair.engine().call(() -> {
                target.add(flow);
                return true;
            });
            isAdded = true;
        } finally {
            if (!isAdded) {
                abandon();
            }
        }
    }

    @Override
    public QueuePair queuePair() {
        return queuePair;
    }

    @Override
    public FlowRule rule() {
        return flow.rule();
    }

    @Override
    public long packets() {
        return flow.packets();
    }

    @Override
    public long bytes() {
        return flow.bytes();
    }

    @Override
    protected void release() {
        queuePair.engine().call(() -> {
            target.remove(flow);
            return true;
        });
    }
}
