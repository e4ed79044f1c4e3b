package verbena.sim.model;

import java.util.List;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.AsyncEvent;

/// A shared receive queue (IBTA 10.2.9).
public final class ModelSharedReceiveQueue extends ModelObject {
    private final ModelDomain domain;
    private final ModelReceiveQueue queue;

    ModelSharedReceiveQueue(ModelDomain domain, int maxWr, int maxSge) {
        super(domain);
        this.domain = domain;
        this.queue = new ModelReceiveQueue(
                maxWr, maxSge, () -> domain.device().raise(AsyncEvent.Type.SRQ_LIMIT_REACHED, this));
    }

    public ModelDomain domain() {
        return domain;
    }

    ModelReceiveQueue queue() {
        return queue;
    }

    public int size() {
        return queue.size();
    }

    public int limit() {
        return queue.limit();
    }

    public List<Refusal> mayArm(int limit) {
        return new Reasons()
                .and(mayBeUsed())
                .when(limit < 0 || limit > queue.maxWr(), IllegalArgumentException.class, "limit")
                .list();
    }

    public void arm(int limit) {
        queue.limit(limit);
    }

    public List<Refusal> mayPost(int alreadyInBatch, ModelReceive receive) {
        return new Reasons()
                .and(mayBeUsed())
                .and(PostRules.mayReceive(queue, alreadyInBatch, receive, "maxWr", "maxSge"))
                .list();
    }

    public void post(ModelReceive receive) {
        queue.post(receive);
    }

    @Override
    void end() {}
}
