package verbena.stream;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import verbena.verbs.VerbsException;

/// How threads wait for an [OpenStream]. Guarded by the lock of the stream.
///
/// A thread that waits leads when no other does: it waits at the completion queue, without the lock, and takes
/// what has come for all. The others wait until the leader tells them, and then one of them leads. Only the leader
/// takes completions while there is one, so none that a leader waits for is taken from under it.
final class WaitingThreads {
    static final long FOREVER = Long.MAX_VALUE;

    /// Where completions come from.
    interface Source {
        /// Takes what has completed, and sees what has become of the connection. Not while a thread leads.
        void progress();

        /// Waits for a completion, at most so long. Without the lock.
        ///
        /// @param nanos [#FOREVER] for no limit
        /// @throws VerbsException when there will be none
        void awaitCompletion(long nanos) throws InterruptedException;

        /// There will be no completion any more.
        void onBroken();

        /// The thread that has led has taken what came.
        void onLed();
    }

    private final ReentrantLock lock;
    private final Condition changed;
    private final Source source;
    private boolean isLed;
    private int followers;

    WaitingThreads(ReentrantLock lock, Source source) {
        this.lock = lock;
        this.changed = lock.newCondition();
        this.source = source;
    }

    /// Whether a thread takes completions for all.
    boolean areLed() {
        return isLed;
    }

    /// Has each thread look again.
    void tell() {
        changed.signalAll();
    }

    /// Waits until there is what is wanted; false when `nanos` have passed.
    boolean await(BooleanSupplier wanted, long nanos) throws InterruptedException {
        if (wanted.getAsBoolean()) {
            return true;
        }
        long start = nanos == FOREVER ? 0 : System.nanoTime();
        try {
            while (true) {
                if (!isLed) {
                    source.progress();
                }
                if (wanted.getAsBoolean()) {
                    return true;
                }
                long left = nanos == FOREVER ? nanos : nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    return false;
                }
                if (isLed) {
                    follow(left);
                } else {
                    lead(left);
                }
            }
        } finally {
            tellFollowers(); // one of them has to lead now
        }
    }

    private void tellFollowers() {
        if (followers > 0) {
            changed.signalAll();
        }
    }

    private void lead(long nanos) throws InterruptedException {
        isLed = true;
        lock.unlock();
        boolean isBroken = false;
        try {
            source.awaitCompletion(nanos);
        } catch (VerbsException e) {
            isBroken = true;
        } finally {
            lock.lock();
            isLed = false;
            if (isBroken) {
                source.onBroken();
            }
            tellFollowers();
            source.onLed();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // the caller asks again
    private void follow(long nanos) throws InterruptedException {
        followers++;
        try {
            long _ = changed.awaitNanos(nanos);
        } finally {
            followers--;
        }
    }

    /// Waits until it is told. An interruption does not end that.
    @SuppressWarnings("WaitNotInLoop") // the caller asks again
    void follow() {
        changed.awaitUninterruptibly();
    }

    /// Waits as [#await] does, and keeps an interruption for the caller. Returns whether there was one.
    boolean awaitUninterrupted(BooleanSupplier wanted, long nanos) {
        long start = System.nanoTime();
        boolean interrupted = false;
        while (true) {
            try {
                long left = nanos == FOREVER ? nanos : Math.max(0, nanos - (System.nanoTime() - start));
                boolean _ = await(wanted, left);
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }
}
