package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.COMP_CHANNEL;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Optional;
import verbena.foreign.Memory;
import verbena.provider.EventQueue;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.WaitSource;
import verbena.verbs.spi.OwnedObject;

/// A channel: C's, read by the poller, and the queue of notifications that threads wait at.
public final class IbvCompletionChannel extends OwnedObject implements CompletionChannel, WaitSource {
    private static final int NOTIFICATIONS_MAX = 1 << 16;

    private final OpenContext context;
    private final long address;
    private final int descriptor;
    private final EventQueue<CompletionQueue> notifications;

    public IbvCompletionChannel(OpenContext context, int number) {
        super("completion channel " + number);
        this.context = context;
        this.notifications = new EventQueue<>(label(), NOTIFICATIONS_MAX);
        madeFrom(java.util.List.of(context));
        var made = context.library().createCompChannel.call(context.address());
        if (made.isNull()) {
            abandon();
            throw context.refused("createCompletionChannel", "completion channels", made.errno());
        }
        this.address = made.value();
        this.descriptor = Memory.getInt(address + COMP_CHANNEL.at("fd"));
        context.poller().add(descriptor, this::onReadable);
    }

    /// Returns a channel that only the context closes.
    public static IbvCompletionChannel ofContext(OpenContext context) {
        var made = new IbvCompletionChannel(context, 0);
        made.abandon();
        return made;
    }

    long address() {
        return address;
    }

    /// Reads events, one or several, on the poller's thread.
    private void onReadable() {
        var library = context.library();
        try (Arena arena = Arena.ofConfined()) {
            var cq = arena.allocate(ValueLayout.JAVA_LONG);
            var token = arena.allocate(ValueLayout.JAVA_LONG);
            while (library.getCqEvent.call(address, cq, token).value() == 0) {
                OpenContext.Queue owner = context.completionQueue(token.get(ValueLayout.JAVA_LONG, 0));
                library.ackCqEvents.call(cq.get(ValueLayout.JAVA_LONG, 0), 1);
                if (owner != null) {
                    owner.onEvent();
                }
            }
        }
    }

    /// Notifies an armed completion queue that has completions, on the poller's thread.
    void notify(CompletionQueue cq) {
        notifications.offer(cq);
    }

    void forget(CompletionQueue cq) {
        notifications.forget(cq);
    }

    @Override
    public Context context() {
        return context;
    }

    @Override
    public Optional<CompletionQueue> await(Duration timeout) throws InterruptedException {
        checkOpen();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return notifications.await(timeout);
    }

    @Override
    public CompletionQueue await() throws InterruptedException {
        checkOpen();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return notifications.await();
    }

    @Override
    public Optional<CompletionQueue> poll() {
        checkOpen();
        return notifications.poll();
    }

    @Override
    public boolean isReady() {
        return notifications.isOver();
    }

    @Override
    public WaitSource waitSource() {
        return this;
    }

    @Override
    public void addListener(Runnable listener) {
        notifications.addListener(listener);
    }

    @Override
    public void removeListener(Runnable listener) {
        notifications.removeListener(listener);
    }

    @Override
    public boolean hasEnded() {
        return isClosed();
    }

    @Override
    protected void release() {
        notifications.close();
        context.poller().remove(descriptor);
        context.library().destroyCompChannel.call(address);
    }
}
