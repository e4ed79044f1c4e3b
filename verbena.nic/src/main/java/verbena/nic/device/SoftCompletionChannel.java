package verbena.nic.device;

import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import verbena.nic.engine.Engine;
import verbena.nic.engine.SpinPolicy;
import verbena.nic.kind.DeviceLimits;
import verbena.provider.Timeouts;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.spi.OwnedObject;

final class SoftCompletionChannel extends OwnedObject implements CompletionChannel {
    private final DeviceContext context;
    private final DrivenEvents<CompletionQueue> notifications;
    private final BooleanSupplier isOver;
    private final SpinPolicy policy = new SpinPolicy();
    /// The engine of the queue that was notified last: driven by those who poll.
    private volatile Engine notifiedLast;

    SoftCompletionChannel(DeviceContext context, int number) {
        super("completion channel " + number);
        this.context = context;
        this.notifications = new DrivenEvents<>(label(), DeviceLimits.CQ_MAX, context);
        this.isOver = notifications::isOver;
        this.notifiedLast = context.engine();
        madeFrom(context);
    }

    /// Engine: an armed completion queue has something. It is in here at most once: whoever takes it out polls it,
    /// and so finds everything that came before.
    void notify(SoftCompletionQueue cq) {
        if (cq.markNotified(true)) {
            notifiedLast = cq.engine();
            notifications.offer(cq);
        }
    }

    void forget(SoftCompletionQueue cq) {
        notifications.forget(cq);
    }

    @Override
    public Context context() {
        return context;
    }

    @Override
    public Optional<CompletionQueue> await(Duration timeout) throws InterruptedException {
        checkOpen();
        if (!context.engines().hasThread()) {
            return taken(notifications.await(timeout));
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long nanos = Timeouts.nanos(timeout);
        long start = System.nanoTime();
        policy.begin(start);
        if (policy.looks()) {
            notifiedLast.look(policy, isOver, start, nanos);
        }
        Optional<CompletionQueue> first = poll();
        long left = nanos - (System.nanoTime() - start);
        if (first.isEmpty()) {
            first = taken(notifications.awaitAttending(Math.max(0, left)));
        }
        policy.end(System.nanoTime());
        return first;
    }

    @Override
    public Optional<CompletionQueue> poll() {
        checkOpen();
        Optional<CompletionQueue> first = taken(notifications.poll());
        return first.isPresent() || !notifiedLast.drive() ? first : taken(notifications.poll());
    }

    private static Optional<CompletionQueue> taken(Optional<CompletionQueue> notified) {
        if (notified.isPresent() && notified.get() instanceof SoftCompletionQueue cq) {
            cq.markNotified(false);
        }
        return notified;
    }

    @Override
    protected void release() {
        notifications.close();
    }
}
