package verbena.nic;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.transport.queue.CompletionRing;
import verbena.verbs.AsyncEvent;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.WorkCompletion;

final class SoftCompletionQueue extends SoftObject implements CompletionQueue, CompletionRing.Listener {
    /// How long [#await] drives the engine itself before it sleeps.
    private static final long SPIN_NANOS = 50_000;

    private final SoftContext context;
    private final @Nullable SoftCompletionChannel channel;
    /// Queue pairs that report here; they break when it overflows.
    private final Set<SoftQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
    /// One poller at a time.
    private final ReentrantLock pollers = new ReentrantLock();
    private final ReentrantLock sleepers = new ReentrantLock();
    private final Condition woken = sleepers.newCondition();
    private final CompletionRing ring;

    SoftCompletionQueue(SoftContext context, int number, int entries, Optional<SoftCompletionChannel> channel) {
        super("completion queue " + number);
        this.context = context;
        this.channel = channel.orElse(null);
        this.ring = new CompletionRing(entries, this);
        madeFrom(context);
        channel.ifPresent(this::madeFrom);
    }

    CompletionRing ring() {
        return ring;
    }

    void attach(SoftQueuePair queuePair) {
        queuePairs.add(queuePair);
    }

    void detach(SoftQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    @Override
    public Context context() {
        return context;
    }

    @Override
    public int capacity() {
        return ring.capacity();
    }

    @Override
    public Optional<CompletionChannel> channel() {
        return Optional.ofNullable(channel);
    }

    @Override
    public boolean poll(WorkCompletion wc) {
        checkOpen();
        return take(wc) || (context.engine().drive() && take(wc));
    }

    private boolean take(WorkCompletion wc) {
        pollers.lock();
        try {
            return ring.poll(wc);
        } finally {
            pollers.unlock();
        }
    }

    @Override
    public boolean await(WorkCompletion wc, Duration timeout) throws InterruptedException {
        long start = System.nanoTime();
        long timeoutNanos = timeout.toNanos();
        do {
            if (poll(wc)) {
                return true;
            }
            Thread.onSpinWait();
        } while (System.nanoTime() - start < Math.min(SPIN_NANOS, timeoutNanos));
        if (!context.engine().hasThread()) {
            return poll(wc); // whoever drives has to go on
        }
        context.engine().handOver();
        return sleep(wc, timeoutNanos - (System.nanoTime() - start));
    }

    private boolean sleep(WorkCompletion wc, long timeoutNanos) throws InterruptedException {
        long left = timeoutNanos;
        sleepers.lockInterruptibly();
        // Said before the ring is looked at again; the engine looks at it after it has written to the ring.
        ring.sleepers(1);
        try {
            while (true) {
                if (take(wc)) {
                    return true;
                }
                if (isClosed()) {
                    throw new InvalidStateException("await: " + label() + " is closed");
                }
                if (left <= 0) {
                    return false;
                }
                left = woken.awaitNanos(left);
            }
        } finally {
            ring.sleepers(-1);
            sleepers.unlock();
        }
    }

    @Override
    public void arm(boolean solicitedOnly) {
        checkOpen();
        if (channel == null) {
            throw new InvalidStateException("arm: " + label() + " was made without a channel");
        }
        ring.arm(solicitedOnly);
    }

    @Override
    public void resize(int entries) {
        checkOpen();
        SoftContext.checkEntries("resize", entries);
        // As a command, and with the pollers' lock: nobody writes or reads the ring meanwhile.
        pollers.lock();
        try {
            if (!context.engine().call(() -> ring.resize(entries))) {
                throw new ResourceLimitException(
                        "resize", "entries", entries, ring.size() + " completions are in the queue");
            }
        } finally {
            pollers.unlock();
        }
    }

    // ---- by the engine

    @Override
    public void onNotification() {
        if (channel != null) {
            channel.notify(this);
        }
    }

    @Override
    public void onWake() {
        sleepers.lock();
        try {
            woken.signalAll();
        } finally {
            sleepers.unlock();
        }
    }

    @Override
    public void onOverflow() {
        context.raise(new AsyncEvent.CompletionQueueEvent(AsyncEvent.Type.CQ_ERR, this));
        context.engine()
                .later(() -> queuePairs.forEach(queuePair ->
                        queuePair.breakDown("its completion queue of " + capacity() + " entries overflowed")));
    }

    @Override
    void release() {
        context.completionQueues.giveBack();
        if (channel != null) {
            channel.forget(this);
        }
        onWake();
    }
}
