package verbena.nic.device;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;
import verbena.nic.engine.SpinPolicy;
import verbena.nic.kind.DeviceLimits;
import verbena.provider.Timeouts;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.WaitSource;
import verbena.verbs.internal.DeviceWait;
import verbena.verbs.internal.WaitableChannel;
import verbena.verbs.spi.OwnedObject;

final class SoftCompletionChannel extends OwnedObject implements WaitableChannel, WaitSource, WaitSource.Place {
    /// A completion queue that notifies.
    interface Source extends CompletionQueue {
        /// Returns the engine that polling drives.
        Engine engine();

        /// Marks the queue as being in its channel, or not; returns whether that is a change.
        boolean markNotified(boolean to);

        /// Returns the queue, as it was taken out of its channel.
        Optional<CompletionQueue> taken();
    }

    private final Context context;
    private final Engines engines;
    private final DrivenEvents<CompletionQueue> notifications;
    private final BooleanSupplier isOver;
    private final SpinPolicy policy = new SpinPolicy();
    /// The engine of the queue that was notified last: driven by threads that poll.
    private volatile Engine notifiedLast;

    SoftCompletionChannel(DeviceCore core, int number) {
        super("completion channel " + number);
        this.context = core.context;
        this.engines = core.engines;
        this.notifications = new DrivenEvents<>(label(), DeviceLimits.CQ_MAX, engines);
        this.isOver = notifications::isOver;
        this.notifiedLast = engines.first();
        madeFrom(core.root);
    }

    /// Reports, as the engine, that an armed completion queue has a completion. A queue is in the channel at most
    /// once: the thread that takes it out polls it, and so finds every earlier completion.
    void notify(Source cq) {
        if (cq.markNotified(true)) {
            notifiedLast = cq.engine();
            notifications.offer(cq);
        }
    }

    void forget(Source cq) {
        notifications.forget(cq);
    }

    @Override
    public Context context() {
        return context;
    }

    @Override
    public Optional<CompletionQueue> await(Duration timeout) throws InterruptedException {
        return await(Timeouts.nanos(timeout));
    }

    @Override
    public CompletionQueue await() throws InterruptedException {
        while (true) {
            Optional<CompletionQueue> notified = await(Timeouts.NONE);
            if (notified.isPresent()) {
                return notified.get();
            }
        }
    }

    private Optional<CompletionQueue> await(long nanos) throws InterruptedException {
        checkOpen();
        if (!engines.hasThread()) {
            return taken(notifications.await(nanos));
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
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

    // ---- for a waiter

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
    public Optional<Place> place() {
        return Optional.of(this);
    }

    @Override
    public boolean attend(BooleanSupplier isWaitOver, long nanos) throws InterruptedException {
        if (!engines.hasThread()) {
            return notifications.attend(isWaitOver, nanos);
        }
        long start = System.nanoTime();
        policy.begin(start);
        if (policy.looks()) {
            notifiedLast.look(policy, isWaitOver, start, nanos);
        }
        long left = nanos - (System.nanoTime() - start);
        boolean hasWaited = isWaitOver.getAsBoolean() || left <= 0 || notifications.attend(isWaitOver, left);
        policy.end(System.nanoTime());
        if (!hasWaited) {
            engines.handOver();
        }
        return hasWaited;
    }

    @Override
    public void wakeAttendant() {
        engines.first().wakeGuest();
    }

    // ---- for a caller that sleeps in a system call of its own

    @Override
    public Optional<CompletionQueue> take() {
        return notifications.next() instanceof Source cq ? cq.taken() : Optional.empty();
    }

    @Override
    public int notifications() {
        return notifications.size();
    }

    @Override
    public int visit(MemorySegment pollfds) {
        Engine engine = engines.first();
        if (engines.all().size() > 1) {
            return ELSEWHERE;
        }
        long start = System.nanoTime();
        policy.begin(start);
        if (policy.looks()) {
            engine.look(policy, isOver, start, Long.MAX_VALUE);
        }
        return notifications.isOver() ? ended(OVER) : goOn(pollfds);
    }

    @Override
    public int goOn(MemorySegment pollfds) {
        int answer = engines.first().visit(isOver, pollfds);
        return answer > 0 ? answer : ended(notifications.isOver() ? OVER : answer);
    }

    private int ended(int answer) {
        policy.end(System.nanoTime());
        return answer;
    }

    @Override
    public void endVisit() {
        engines.first().endVisit();
        policy.end(System.nanoTime());
    }

    @Override
    public void wake() {
        engines.first().wakeGuest();
    }

    @Override
    public void handOver() {
        engines.handOver();
    }

    @Override
    public DeviceWait waiter(BooleanSupplier hasCome) {
        return new SoftDeviceWait(engines, hasCome);
    }

    private static Optional<CompletionQueue> taken(Optional<CompletionQueue> notified) {
        return notified.isPresent() && notified.get() instanceof Source cq ? cq.taken() : notified;
    }

    @Override
    protected void release() {
        notifications.close();
    }
}
