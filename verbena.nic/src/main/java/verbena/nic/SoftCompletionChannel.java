package verbena.nic;

import java.time.Duration;
import java.util.Optional;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;

final class SoftCompletionChannel extends SoftObject implements CompletionChannel {
    private final SoftContext context;
    private final EventQueue<CompletionQueue> notifications = new EventQueue<>("the channel", 1 << 20);

    SoftCompletionChannel(SoftContext context) {
        super("completion channel");
        this.context = context;
        madeFrom(context);
    }

    void notify(SoftCompletionQueue cq) {
        notifications.offer(cq);
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
        Optional<CompletionQueue> ready = notifications.poll();
        if (ready.isPresent()) {
            return ready;
        }
        context.engine().handOver();
        return notifications.await(timeout);
    }

    @Override
    public Optional<CompletionQueue> poll() {
        checkOpen();
        return notifications.poll();
    }

    @Override
    void release() {
        notifications.close();
    }
}
