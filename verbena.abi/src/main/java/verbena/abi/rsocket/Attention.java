package verbena.abi.rsocket;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;
import verbena.abi.rsocket.RsocketState.Phase;
import verbena.stream.protocol.ByteStream;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;

/// The threads that look for completions on the stream of an [Rsocket], and those that they notify.
///
/// A call that waits does the device's work in its own thread, and takes what completes ([StreamWatch]). A
/// program that asks the kernel instead, by poll(2) or epoll(7), finds the file descriptor as ready as the
/// rsocket is ([Readiness]). That costs a thread and system calls, so it is done only while no call of ours waits,
/// nor has done so a moment ago.
final class Attention implements Attended {
    /// The result of [#look] when there is no connection.
    static final int NOT_UNDER_WAY = -1;

    private final RsocketState state;
    private final Readiness readiness;
    /// Calls that wait without leading look.
    final Condition changed;

    /// The device of the stream, which is told what completes, and the queue that it is told by.
    private @Nullable StreamWatch watch;

    private @Nullable CompletionQueue queue;

    /// Whether the next completion is notified.
    private volatile boolean isArmed;
    /// The descriptor is kept as ready as the rsocket is, because the program may ask the kernel.
    private volatile boolean isWatched;
    /// Calls that wait without asking the kernel; and those that wait for the descriptor.
    private final AtomicInteger waiters = new AtomicInteger();

    private int kernelWaiters;
    /// Left to the looker; and whether a call was made since it looked.
    private boolean isLeft;

    private boolean isTouched;

    Attention(RsocketState state, Readiness readiness) {
        this.state = state;
        this.readiness = readiness;
        this.changed = state.lock.newCondition();
    }

    // ---- the device

    /// Joins the watch of a device, before the stream is made.
    void join(Context device) {
        watch = StreamWatch.join(device);
    }

    /// Makes the queue of the stream, after [#join].
    CompletionQueue createQueue(int entries) {
        if (watch == null) {
            throw new IllegalStateException("no device was joined");
        }
        CompletionQueue its = watch.createQueue(entries, this);
        queue = its;
        return its;
    }

    /// Leaves the watch: the stream is closed, or was not made.
    void leave() {
        if (watch != null) {
            watch.leave(queue);
            watch = null;
        }
    }

    /// Returns the watch of the device that it is connected through, while it has a stream.
    @Nullable
    StreamWatch watch() {
        return watch;
    }

    /// Returns the same; null when it is not connected, or not yet.
    @Nullable
    StreamWatch watchUnderWay() {
        state.lock.lock();
        try {
            return state.isUnderWay() ? watch : null;
        } finally {
            state.lock.unlock();
        }
    }

    // ---- completions

    /// Begins the notifications of a connection. Until a call of the program waits for it, the program may wait by
    /// the kernel.
    void begin() {
        isWatched = true;
        keep();
    }

    /// Takes what has completed, and sees what has become of the connection.
    ///
    /// @return how many completions there were
    int progress() {
        Phase before = state.phase;
        int count = state.progress();
        if (state.phase != before) {
            settle();
        }
        return count;
    }

    @Override
    public boolean onNotification() {
        isArmed = false; // before the look at who waits: that thread says so first, then asks whether it is armed
        return (isWatched || waiters.get() > 0) && !state.lock.isHeldByCurrentThread();
    }

    @Override
    public void lookAfter() {
        if (isArmed) {
            return;
        }
        state.lock.lock();
        try {
            progress();
            keep();
        } finally {
            state.lock.unlock();
        }
    }

    /// Ends a call and gives the lock back.
    void finish() {
        isTouched = true;
        keep();
        if (!isWatched && !isLeft && waiters.get() == 0 && state.phase == Phase.CONNECTED) {
            isLeft = true;
            StreamLooker.leave(this);
        }
        state.lock.unlock();
    }

    @Override
    public boolean isDoneWith() {
        if (!state.lock.tryLock()) {
            return false; // a call is under way
        }
        try {
            if (state.phase == Phase.CONNECTED && !isWatched && waiters.get() == 0) {
                if (isTouched) {
                    isTouched = false;
                    return false;
                }
                isWatched = true;
                keep();
            }
            isLeft = false;
            return true;
        } finally {
            state.lock.unlock();
        }
    }

    /// Keeps completions notified while a thread waits. The descriptor then shows the changes, and waiting calls
    /// look.
    void keep() {
        assert state.lock.isHeldByCurrentThread();
        ByteStream made = state.stream;
        if (made != null && state.phase == Phase.CONNECTED && !isArmed && (isWatched || waiters.get() > 0)) {
            do {
                isArmed = true;
                made.arm();
                progress();
            } while (!isArmed && state.phase == Phase.CONNECTED);
            if (isWatched && watch != null) {
                watch.handOver();
            }
        }
        settle();
    }

    /// Updates the file descriptor and wakes the calls that wait.
    void settle() {
        assert state.lock.isHeldByCurrentThread();
        if (state.phase == Phase.CLOSED) {
            return;
        }
        readiness.settle(isWatched);
        changed.signalAll();
        if (state.takeChange() && waiters.get() > 0 && watch != null) {
            watch.poke();
        }
    }

    /// Calls that wait look, because it is closed.
    void wakeAll() {
        changed.signalAll();
        if (watch != null) {
            watch.poke();
        }
    }

    // ---- who waits

    /// Handles a program that asks this library directly: only threads that wait for the descriptor need the
    /// kernel.
    void askedDirectly() {
        isWatched = kernelWaiters > 0;
    }

    /// Counts a call that waits from now on, or does no more. For one with the lock.
    void countWaiters(int change) {
        int count = waiters.addAndGet(change);
        assert count >= 0 : count + " calls wait";
    }

    /// Counts a call that waits here from now on, in a thread that leads.
    void beginWait() {
        state.lock.lock();
        try {
            countWaiters(1);
            keep();
        } finally {
            state.lock.unlock();
        }
    }

    void endWait() {
        state.lock.lock();
        countWaiters(-1);
        finish();
    }

    /// Counts a call that waits for the descriptor from now on.
    ///
    /// @param events of poll(2)
    void beginKernelWait(int events) {
        state.lock.lock();
        try {
            kernelWaiters++;
            isWatched = true;
            readiness.awaitedByKernel(events);
            keep();
        } finally {
            state.lock.unlock();
        }
    }

    void endKernelWait() {
        state.lock.lock();
        kernelWaiters--;
        assert kernelWaiters >= 0;
        finish();
    }

    /// Returns which of these events of poll(2) there are; [#NOT_UNDER_WAY] when only the kernel can tell.
    ///
    /// @param drives whether to do the device's work first
    int look(int events, boolean drives) {
        state.lock.lock();
        try {
            if (!state.isUnderWay()) {
                return NOT_UNDER_WAY;
            }
            askedDirectly();
            if (!isArmed || drives) {
                progress();
            }
            return readiness.events(events);
        } finally {
            finish();
        }
    }
}
