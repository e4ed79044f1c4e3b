package verbena.nic.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.SpinPolicy;
import verbena.nic.engine.Stepper;
import verbena.nic.kind.DeviceLimits;
import verbena.provider.Arguments;
import verbena.provider.Timeouts;
import verbena.transport.queue.CompletionRing;
import verbena.verbs.AsyncEvent;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.OwnedObject;

/// A completion queue: a ring that the engine fills, and the ways to wait for it. A thread that polls an empty queue
/// drives the engine when no other thread does.
public final class SoftCompletionQueue extends OwnedObject
        implements SoftCompletionChannel.Source, CompletionRing.Listener, Placement.Placed {
    private static final VarHandle POLLING;

    static {
        try {
            POLLING = MethodHandles.lookup().findVarHandle(SoftCompletionQueue.class, "polling", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final DeviceCore core;
    private final @Nullable SoftCompletionChannel channel;
    /// The queue pairs that report here. They break when the queue overflows, the oldest first, so that a simulated
    /// world is the same each time.
    private final Set<DeviceQueuePair> queuePairs = Collections.synchronizedSet(new LinkedHashSet<>(1));
    /// Whether a thread takes completions: one at a time. A thread holds it for a few instructions, so others spin.
    /// The holder waits for nothing (see the order of locks in [DeviceContext]).
    @SuppressWarnings("UnusedVariable") // by VarHandle
    private boolean polling;

    private final AtomicBoolean notified = new AtomicBoolean();
    /// Made once, so that no notification makes one.
    private final Optional<CompletionQueue> itself = Optional.of(this);
    private final SpinPolicy policy = new SpinPolicy();
    /// Whether the overflow has been reported.
    private final AtomicBoolean overflowed = new AtomicBoolean();

    private final ReentrantLock sleepers = new ReentrantLock();
    private final Condition woken = sleepers.newCondition();
    /// The number of threads that park; those that sleep in the link do not count.
    private final AtomicInteger parked = new AtomicInteger();

    private final CompletionRing ring;
    private final BooleanSupplier isOver = this::isOver;
    /// The engine of its queue pairs, or of most of them; null before there is one.
    private volatile @Nullable Engine home;

    SoftCompletionQueue(DeviceCore core, int number, int entries, Optional<SoftCompletionChannel> channel) {
        super("completion queue " + number);
        this.core = core;
        this.channel = channel.orElse(null);
        this.ring = new CompletionRing(entries, core.kind.listener(this));
        madeFrom(channel.isPresent() ? List.of(core.root, channel.get()) : List.of(core.root));
        core.openQueues.add(this);
    }

    public CompletionRing ring() {
        return ring;
    }

    @Override
    public @Nullable Engine home() {
        return home;
    }

    @Override
    public void use(Engine engine) {
        Engine before = home;
        if (before == null) {
            home = engine;
        } else if (before != engine) {
            before.call(() -> {
                ring.share();
                return true;
            });
        }
    }

    @Override
    public Engine engine() {
        Engine known = home;
        return known == null ? core.engine() : known;
    }

    void attach(DeviceQueuePair queuePair) {
        queuePairs.add(queuePair);
    }

    void detach(DeviceQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    @Override
    public Context context() {
        return core.context;
    }

    @Override
    public int capacity() {
        return ring.capacity();
    }

    @Override
    public Optional<CompletionChannel> channel() {
        return Optional.ofNullable(channel);
    }

    // ---- polling

    @Override
    public boolean poll(WorkCompletion wc) {
        checkOpen();
        return hasSome() && take(wc);
    }

    @Override
    public int poll(WorkCompletion[] into) {
        checkOpen();
        if (!hasSome()) {
            return 0;
        }
        lock();
        try {
            int n = 0;
            while (n < into.length && ring.poll(into[n])) {
                n++;
            }
            return n;
        } finally {
            unlock();
        }
    }

    private boolean hasSome() {
        if (ring.isEmpty()) {
            boolean _ = engine().drive(); // a request may be done without a packet, which is no work of the engine's
            if (ring.isEmpty()) {
                checkWhole("poll");
                return false;
            }
            return true;
        }
        engine().polled();
        return true;
    }

    private boolean take(WorkCompletion wc) {
        lock();
        try {
            return ring.poll(wc);
        } finally {
            unlock();
        }
    }

    private void lock() {
        int spins = 0;
        while (!POLLING.compareAndSet(this, false, true)) {
            if (++spins % 128 == 0) {
                LockSupport.parkNanos(this, 1_000); // the holder has lost its processor
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private void unlock() {
        POLLING.setRelease(this, false);
    }

    // ---- waiting

    @Override
    public boolean await(WorkCompletion wc, Duration timeout) throws InterruptedException {
        return await(wc, Timeouts.nanos(timeout));
    }

    @Override
    public void await(WorkCompletion wc) throws InterruptedException {
        boolean isThere = false;
        while (!isThere) {
            isThere = await(wc, Timeouts.NONE);
        }
    }

    private boolean await(WorkCompletion wc, long nanos) throws InterruptedException {
        checkOpen();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (!ring.isEmpty() && hasSome() && take(wc)) {
            return true;
        }
        if (!core.engines.hasThread()) {
            return awaitStepping(wc, nanos);
        }
        long start = System.nanoTime();
        policy.begin(start);
        if (policy.looks()) {
            engine().look(policy, isOver, start, nanos);
        }
        boolean found = sleep(wc, start, nanos);
        policy.end(System.nanoTime());
        return found;
    }

    private boolean sleep(WorkCompletion wc, long start, long nanos) throws InterruptedException {
        while (true) {
            if (!ring.isEmpty() && take(wc)) {
                return true;
            }
            checkAlive();
            long left = nanos - (System.nanoTime() - start);
            if (left <= 0) {
                return false;
            }
            // Announced before the next look at the ring; the engine checks for sleepers after it has written to the
            // ring.
            ring.sleepers(1);
            try {
                if (!core.engines.attend(isOver, left)) {
                    park(left);
                }
            } finally {
                ring.sleepers(-1);
            }
        }
    }

    private void park(long nanos) throws InterruptedException {
        sleepers.lockInterruptibly();
        parked.getAndIncrement(); // before isOver(): a thread that makes isOver() true does so first, then reads parked
        core.engines.parked(1);
        try {
            long left = nanos;
            while (left > 0 && !isOver()) {
                left = woken.awaitNanos(left);
            }
        } finally {
            core.engines.parked(-1);
            parked.getAndDecrement();
            sleepers.unlock();
        }
    }

    /// Returns whether a sleeping thread has a reason to wake.
    private boolean isOver() {
        return !ring.isEmpty() || ring.isBroken() || !isOpen() || core.engines.failure() != null;
    }

    private boolean awaitStepping(WorkCompletion wc, long nanos) throws InterruptedException {
        var stepper = new Stepper(core.engine(), nanos);
        do {
            if (!ring.isEmpty() && take(wc)) {
                return true;
            }
            checkAlive();
        } while (stepper.step());
        return false;
    }

    private void checkWhole(String verb) {
        Arguments.checkWhole(verb, this, label(), ring.isBroken());
    }

    /// Throws when waiting makes no sense.
    private void checkAlive() {
        checkOpen("await");
        checkWhole("await");
        Throwable failure = core.engines.failure();
        if (failure != null) {
            throw new DeviceException("await: device " + core.name() + " has failed", failure);
        }
    }

    @Override
    public void arm() {
        arm(false);
    }

    @Override
    public void armSolicited() {
        arm(true);
    }

    private void arm(boolean solicitedOnly) {
        checkOpen();
        if (channel == null) {
            throw new InvalidStateException("arm: " + label() + " was made without a channel");
        }
        ring.arm(solicitedOnly);
    }

    @Override
    public void resize(int entries) {
        checkOpen();
        checkEntries("resize", entries);
        if (!core.engines.alone(() -> resizeAlone(entries))) {
            throw new ResourceLimitException(
                    "resize", "entries", entries, ring.size() + " completions are in the queue");
        }
    }

    /// Resizes while no engine works, under the pollers' lock: no thread writes or reads the ring meanwhile. The
    /// engines are stopped first. An engine that wakes sleepers waits for the sleepers' lock, and a sleeper waits
    /// for the pollers' lock.
    private boolean resizeAlone(int entries) {
        lock();
        try {
            return ring.resize(entries);
        } finally {
            unlock();
        }
    }

    // ---- by the engine

    /// Wakes all waiting threads, because the device has failed or the queue is broken.
    void wakeAll() {
        onWake();
    }

    @Override
    public boolean markNotified(boolean to) {
        return notified.getAndSet(to) != to;
    }

    @Override
    public Optional<CompletionQueue> taken() {
        boolean _ = markNotified(false);
        return itself;
    }

    @Override
    public void onNotification() {
        if (channel != null && isOpen()) {
            channel.notify(this);
        }
    }

    @Override
    public void onWake() {
        engine().wakeGuest();
        if (parked.get() == 0) {
            return;
        }
        sleepers.lock();
        try {
            woken.signalAll();
        } finally {
            sleepers.unlock();
        }
    }

    /// Breaks the queue pairs that report here, even when the queue has long been broken. A queue pair that reports
    /// here can deliver no completion, and must not go on as if it had (IBTA 11.6.3.2).
    @Override
    public void onOverflow() {
        if (!overflowed.getAndSet(true)) {
            core.raise(new AsyncEvent.CompletionQueueEvent(AsyncEvent.Type.CQ_ERR, this));
        }
        String cause = "its completion queue of " + capacity() + " entries overflowed";
        engine().later(() -> {
            queuePairs.forEach(queuePair -> queuePair.engine().execute(() -> queuePair.breakDown(cause)));
            wakeAll();
        });
    }

    @Override
    protected boolean help() {
        return core.engines.help();
    }

    @Override
    protected void release() {
        core.completionQueues.giveBack();
        core.openQueues.remove(this);
        if (channel != null) {
            channel.forget(this);
        }
        onWake();
    }

    static void checkEntries(String verb, int entries) {
        if (entries < 1) {
            throw new IllegalArgumentException(verb + ": entries: at least 1, got " + entries);
        }
        if (entries > DeviceLimits.CQE_MAX) {
            throw new ResourceLimitException(verb, "maxCqe", DeviceLimits.CQE_MAX, "asked for " + entries);
        }
    }
}
