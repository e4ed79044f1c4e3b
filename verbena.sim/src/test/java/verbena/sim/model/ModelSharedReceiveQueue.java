package verbena.sim.model;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.AsyncEvent;

/// A shared receive queue (IBTA 10.2.9). One of an XRC domain has a number, by which peers name it, and a completion
/// queue of its own.
public final class ModelSharedReceiveQueue extends ModelObject {
    private final ModelDomain domain;
    private final ModelReceiveQueue queue;
    private final @Nullable ModelXrcDomain xrcDomain;
    private final @Nullable ModelCompletionQueue completions;
    private final int number;

    ModelSharedReceiveQueue(ModelDomain domain, int maxWr, int maxSge) {
        this(domain, null, null, 0, maxWr, maxSge);
    }

    /// One that peers name.
    ModelSharedReceiveQueue(
            ModelDomain domain,
            @Nullable ModelXrcDomain xrcDomain,
            @Nullable ModelCompletionQueue completions,
            int number,
            int maxWr,
            int maxSge) {
        super(domain);
        if (xrcDomain != null && completions != null) {
            use(xrcDomain);
            use(completions);
            domain.device().number(number, this);
        }
        this.domain = domain;
        this.xrcDomain = xrcDomain;
        this.completions = completions;
        this.number = number;
        this.queue = new ModelReceiveQueue(
                maxWr, maxSge, () -> domain.device().raise(AsyncEvent.Type.SRQ_LIMIT_REACHED, this));
    }

    public ModelDomain domain() {
        return domain;
    }

    ModelReceiveQueue queue() {
        return queue;
    }

    public Optional<ModelXrcDomain> xrcDomain() {
        return Optional.ofNullable(xrcDomain);
    }

    /// Where receives of one that peers name complete.
    public ModelCompletionQueue completions() {
        return Objects.requireNonNull(completions, "no peer names it");
    }

    public int number() {
        return number;
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
    void end() {
        if (xrcDomain != null) {
            domain.device().forgetNumber(number);
            xrcDomain.forget(this);
        }
    }
}
