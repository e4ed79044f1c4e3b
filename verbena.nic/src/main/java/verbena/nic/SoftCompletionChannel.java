package verbena.nic;

import java.time.Duration;
import java.util.Optional;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;

final class SoftCompletionChannel extends SoftObject implements CompletionChannel {
    private final SoftContext context;
    private final EventQueue<CompletionQueue> notifications;

    SoftCompletionChannel(SoftContext context, int number) {
        super("completion channel " + number);
        this.context = context;
        this.notifications = new EventQueue<>(label(), SoftContext.CQ_MAX, context.engine());
        madeFrom(context);
    }

    /// Engine: an armed completion queue has something. It is in here at most once: whoever takes it out polls it,
    /// and so finds everything that came before.
    void notify(SoftCompletionQueue cq) {
        if (cq.markNotified(true)) {
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
        return taken(notifications.await(timeout));
    }

    @Override
    public Optional<CompletionQueue> poll() {
        checkOpen();
        Optional<CompletionQueue> first = taken(notifications.poll());
        return first.isPresent() || !context.engine().drive() ? first : taken(notifications.poll());
    }

    private static Optional<CompletionQueue> taken(Optional<CompletionQueue> notified) {
        if (notified.isPresent() && notified.get() instanceof SoftCompletionQueue cq) {
            cq.markNotified(false);
        }
        return notified;
    }

    @Override
    void release() {
        notifications.close();
    }
}
