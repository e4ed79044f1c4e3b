package verbena.check.device;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.TrackedQueue;
import verbena.check.Watcher.Event;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.WorkCompletion;

/// The layer in front of a completion queue.
final class CheckedQueue extends CheckedObject<CompletionQueue> implements CompletionQueue {
    private final TrackedQueue tracked;
    private final @Nullable CheckedChannel channel;

    CheckedQueue(Layer layer, CompletionQueue inner, @Nullable CheckedChannel channel) {
        super(layer, inner);
        this.tracked = new TrackedQueue(inner, CallPlace.here());
        this.channel = channel;
        layer.device().objects().add(tracked);
        if (channel != null) {
            channel.queues().add(tracked);
        }
    }

    @Override
    void closed() {
        layer().device().objects().remove(tracked);
        if (channel != null) {
            channel.queues().remove(tracked);
        }
    }

    TrackedQueue tracked() {
        return tracked;
    }

    @Override
    public Context context() {
        return layer().outer(Context.class, inner().context());
    }

    @Override
    public int capacity() {
        return inner().capacity();
    }

    @Override
    public boolean poll(WorkCompletion wc) {
        boolean found = inner().poll(wc);
        looked(found, wc);
        return found;
    }

    private void looked(boolean found, WorkCompletion wc) {
        if (found) {
            layer().completed(tracked, wc);
        } else {
            layer().checker().onPoll(tracked, false);
        }
    }

    @Override
    public boolean await(WorkCompletion wc, Duration timeout) throws InterruptedException {
        boolean found = inner().await(wc, timeout);
        looked(found, wc);
        return found;
    }

    @Override
    public void await(WorkCompletion wc) throws InterruptedException {
        inner().await(wc);
        looked(true, wc);
    }

    @Override
    public void arm() {
        tracked.arm(CallPlace.here());
        inner().arm();
    }

    @Override
    public void armSolicited() {
        tracked.arm(CallPlace.here());
        inner().armSolicited();
    }

    @Override
    public void resize(int entries) {
        inner().resize(entries);
        layer().checker().hear(Event.RESIZE, watcher -> watcher.onResize(tracked));
    }

    @Override
    public Optional<CompletionChannel> channel() {
        return Optional.ofNullable(channel);
    }
}
