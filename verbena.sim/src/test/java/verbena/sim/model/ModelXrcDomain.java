package verbena.sim.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.QueuePairOptions;

/// Which shared receive queues the peers of extended connections may name (IBTA A14, ibv_open_xrcd(3)).
public final class ModelXrcDomain extends ModelObject {
    private final ModelDevice device;
    /// What a target has of its own. It stays empty.
    private final ModelDomain emptyDomain;

    private final ModelCompletionQueue emptyQueue;
    private final List<ModelSharedReceiveQueue> queues = new ArrayList<>();
    private final List<ModelQueuePair> targets = new ArrayList<>();

    ModelXrcDomain(ModelDevice device) {
        this.device = device;
        emptyDomain = device.allocateDomain();
        emptyQueue = device.createCompletionQueue(1, Optional.empty());
    }

    ModelDevice device() {
        return device;
    }

    // ---- verbs

    /// ibv_create_srq_ex(3) with IBV_SRQT_XRC.
    public List<Refusal> mayCreateSharedReceiveQueue(
            ModelDomain domain, ModelCompletionQueue cq, int maxWr, int maxSge) {
        return new Reasons()
                .and(mayBeUsed())
                .and(cq.mayBeUsed())
                .and(device.mayCreateSharedReceiveQueue(domain, maxWr, maxSge))
                .when(domain.device() != device, IllegalArgumentException.class, "domain")
                .when(cq.device() != device, IllegalArgumentException.class, "cq")
                .list();
    }

    /// A queue that peers name.
    ///
    /// @param number what the real device has drawn
    public ModelSharedReceiveQueue createSharedReceiveQueue(
            ModelDomain domain, ModelCompletionQueue cq, int maxWr, int maxSge, int number) {
        var queue = new ModelSharedReceiveQueue(domain, this, cq, number, maxWr, maxSge);
        queues.add(queue);
        targets.forEach(cq::addReporter);
        return queue;
    }

    public List<Refusal> mayCreateTarget() {
        return mayBeUsed();
    }

    /// A queue pair that receives.
    ///
    /// @param options as the real device tells them
    public ModelQueuePair createTarget(QueuePairOptions options, int qpn) {
        var target = device.add(new ModelQueuePair(emptyDomain, options, emptyQueue, emptyQueue, null, this, qpn));
        targets.add(target);
        queues.forEach(queue -> queue.completions().addReporter(target));
        return target;
    }

    // ---- what ends

    void forget(ModelSharedReceiveQueue queue) {
        queues.remove(queue);
        ModelCompletionQueue cq = queue.completions();
        if (queues.stream().noneMatch(other -> other.completions() == cq)) {
            targets.forEach(cq::removeReporter);
        }
    }

    void forget(ModelQueuePair target) {
        targets.remove(target);
        queues.forEach(queue -> queue.completions().removeReporter(target));
    }

    @Override
    void end() {}
}
