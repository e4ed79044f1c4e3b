package verbena.ibverbs.lib;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import verbena.verbs.InvalidStateException;
import verbena.verbs.spi.OwnedObject;

/// The way to an object in C: one thread at a time, and none once it is closed. A thread that closes it waits for
/// the one inside, so C's object can be destroyed then. Going in is one compare-and-set, coming out one store.
public final class Gate {
    private static final long FREE = 0;
    private static final long CLOSED = -1;
    private static final long WAIT_NANOS_MAX = 1_000_000;

    /// [#FREE], [#CLOSED], or the id of the thread inside, which is positive. Not a `VarHandle`: of the compiler's
    /// budget for one method a post and a poll must leave something to their caller, and this takes far less.
    private final AtomicLong state = new AtomicLong(FREE);

    /// Goes in; waits for the thread inside.
    ///
    /// @throws InvalidStateException when it is closed
    public void enter(String verb, OwnedObject owner) {
        long me = Thread.currentThread().threadId();
        if (!state.compareAndSet(FREE, me)) {
            enterSlowly(verb, owner, me);
        }
    }

    /// Returns whether this thread is inside. Only it can have written its own id, so a plain read is enough.
    public boolean isMine() {
        return state.getPlain() == Thread.currentThread().threadId();
    }

    /// Enters a gate that is occupied, perhaps for as long as its program likes. Each pause is twice as long as the
    /// one before, up to a millisecond, which adds little to the wait and leaves the processor to others.
    private void enterSlowly(String verb, OwnedObject owner, long to) {
        boolean interrupted = false;
        long pauseNanos = 1_000;
        int spins = 0;
        try {
            while (!state.compareAndSet(FREE, to)) {
                if (state.get() == CLOSED) {
                    throw new InvalidStateException(verb + ": " + owner.label() + " is closed");
                }
                if (++spins % 128 != 0) {
                    Thread.onSpinWait();
                    continue;
                }
                interrupted |= Thread.interrupted(); // or there would be no pause
                LockSupport.parkNanos(this, pauseNanos);
                pauseNanos = Math.min(2 * pauseNanos, WAIT_NANOS_MAX);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public void leave() {
        assert isMine();
        state.setRelease(FREE);
    }

    /// Closes the gate: from now on no thread goes in, and none is inside. A calling thread that was inside has
    /// left it.
    public void close(String verb, OwnedObject owner) {
        if (isMine()) {
            state.setRelease(CLOSED);
        } else {
            enterSlowly(verb, owner, CLOSED);
        }
    }

    /// Opens the gate again: the object could not be destroyed.
    public void open() {
        state.setRelease(FREE);
    }
}
