package verbena.sim.model;

import java.util.LinkedHashSet;
import java.util.Set;

/// A completion channel (ibv_create_comp_channel(3)). A queue is in it once at most: the thread that takes it out
/// polls it.
public final class ModelChannel extends ModelObject {
    private final Set<ModelCompletionQueue> notified = new LinkedHashSet<>();

    ModelChannel() {}

    /// The queues that have notified and have not been taken out.
    public Set<ModelCompletionQueue> notified() {
        return Set.copyOf(notified);
    }

    public void taken(ModelCompletionQueue queue) {
        notified.remove(queue);
    }

    void notify(ModelCompletionQueue queue) {
        notified.add(queue);
    }

    void forget(ModelCompletionQueue queue) {
        notified.remove(queue);
    }

    @Override
    void end() {}
}
