package verbena.sim.model;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.AsyncEvent;
import verbena.verbs.InvalidStateException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.WcStatus;

/// A completion queue (IBTA 10.10.2, 11.2.8). Completions of one work queue are in order. No clause promises an
/// order among several, so each has a queue of its own here.
public final class ModelCompletionQueue extends ModelObject {
    private enum Armed {
        NOT,
        FOR_SOLICITED,
        FOR_ANY
    }

    private record WorkQueue(int qpn, boolean ofReceives) {}

    private final ModelDevice device;
    private final @Nullable ModelChannel channel;
    private final Map<WorkQueue, Queue<ModelCompletion>> completions = new LinkedHashMap<>();
    private final Set<ModelQueuePair> reporters = new LinkedHashSet<>();
    private int capacity;
    private Armed armed = Armed.NOT;
    private boolean broken;

    ModelCompletionQueue(ModelDevice device, int capacity, @Nullable ModelChannel channel) {
        super(channel == null ? new ModelObject[0] : new ModelObject[] {channel});
        this.device = device;
        this.capacity = capacity;
        this.channel = channel;
    }

    ModelDevice device() {
        return device;
    }

    public int capacity() {
        return capacity;
    }

    public int size() {
        return completions.values().stream().mapToInt(Collection::size).sum();
    }

    public boolean isBroken() {
        return broken;
    }

    void addReporter(ModelQueuePair queuePair) {
        reporters.add(queuePair);
    }

    void removeReporter(ModelQueuePair queuePair) {
        reporters.remove(queuePair);
    }

    // ---- verbs

    public List<Refusal> mayPoll() {
        return new Reasons()
                .and(mayBeUsed())
                .when(broken && size() == 0, InvalidStateException.class, "poll", "broken")
                .list();
    }

    /// What may be polled now: the oldest of each work queue; empty when there is nothing.
    public List<ModelCompletion> next() {
        return completions.values().stream()
                .map(Queue::peek)
                .filter(Objects::nonNull)
                .toList();
    }

    /// It was polled.
    public void polled(ModelCompletion completion) {
        Objects.requireNonNull(completions.get(workQueue(completion))).remove();
    }

    public List<Refusal> mayArm() {
        return new Reasons()
                .and(mayBeUsed())
                .when(channel == null, InvalidStateException.class, "channel")
                .list();
    }

    /// Asking for less does not take back what was asked for before (IBTA 11.4.2.2).
    public void arm(boolean solicitedOnly) {
        if (!solicitedOnly) {
            armed = Armed.FOR_ANY;
        } else if (armed == Armed.NOT) {
            armed = Armed.FOR_SOLICITED;
        }
    }

    /// IBTA 11.2.8.3: completions stay.
    public List<Refusal> mayResize(int entries) {
        return new Reasons()
                .and(mayBeUsed())
                .and(ModelDevice.mayHaveEntries(entries))
                .when(entries >= 1 && entries < size(), ResourceLimitException.class, "entries")
                .list();
    }

    public void resize(int entries) {
        capacity = entries;
    }

    // ---- by the device

    /// A request has ended. When there is no room, the completion is lost and the queue is broken for good. Queue
    /// pairs that report here cannot go on (IBTA 11.6.3.2: CQ error, local work queue catastrophic error).
    void add(ModelCompletion completion) {
        if (broken || size() == capacity) {
            if (!broken) {
                broken = true;
                device.raise(AsyncEvent.Type.CQ_ERR, this);
            }
            Set.copyOf(reporters).forEach(one -> one.loseVoice(one.qpn() == completion.qpn()));
            return;
        }
        completions
                .computeIfAbsent(workQueue(completion), _ -> new ArrayDeque<>())
                .add(completion);
        boolean urgent = completion.solicited() || completion.status() != WcStatus.SUCCESS;
        if (armed == Armed.FOR_ANY || (armed == Armed.FOR_SOLICITED && urgent)) {
            armed = Armed.NOT;
            Objects.requireNonNull(channel).notify(this);
        }
    }

    private static WorkQueue workQueue(ModelCompletion completion) {
        return new WorkQueue(completion.qpn(), completion.ofReceive());
    }

    @Override
    void end() {
        if (channel != null) {
            channel.forget(this);
        }
    }
}
