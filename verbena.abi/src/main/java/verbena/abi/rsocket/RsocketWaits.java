package verbena.abi.rsocket;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.stream.protocol.ByteStream;
import verbena.verbs.cm.ConnectionId;

/// How calls wait for an [Rsocket]. They take what has completed themselves: in the call, or in rpoll.
abstract class RsocketWaits extends RsocketState {
    /// What [#look] answers when there is no connection.
    static final int NOT_UNDER_WAY = -1;

    /// A program that asks the kernel comes again once before there is anything, to learn that it has all.
    private static final int UNTOLD_MAX = 4;

    // Events of poll(2).
    private static final int POLL_READABLE = 0x41; // POLLIN, POLLRDNORM
    private static final int POLL_WRITABLE = 0x104; // POLLOUT, POLLWRNORM
    private static final int POLL_HANG_UP = 0x2010; // POLLHUP, POLLRDHUP
    private static final int POLL_ALWAYS = 0x10; // POLLHUP

    /// The calls for one direction, one behind the other, that came before the descriptor told anything.
    static final class Untold {
        private int calls;
    }

    final Untold reads = new Untold();
    private final Untold writes = new Untold();

    RsocketWaits(ConnectionId id, RsocketOptions options, boolean isNonBlocking) {
        super(id, options, isNonBlocking);
    }

    // ---- rpoll

    /// The device to wait at; null when it is not connected, or not yet.
    @Nullable
    StreamWatch watchUnderWay() {
        lock.lock();
        try {
            return isUnderWay() ? watch() : null;
        } finally {
            lock.unlock();
        }
    }

    private boolean isUnderWay() {
        return phase == Phase.CONNECTED || (phase == Phase.ENDED && stream != null && stream.hasBegun());
    }

    /// Which of these events of poll(2) there are; [#NOT_UNDER_WAY] when only the kernel can tell.
    ///
    /// @param drives whether to do the device's work first
    int look(int events, boolean drives) {
        lock.lock();
        try {
            if (!isUnderWay()) {
                return NOT_UNDER_WAY;
            }
            isWatched = kernelWaiters > 0; // the program asks us
            if (!isArmed || drives) {
                progress();
            }
            int all = (isReadable() ? POLL_READABLE : 0)
                    | (isWritable() ? POLL_WRITABLE : 0)
                    | (isHungUp() ? POLL_HANG_UP : 0);
            return all & (events | POLL_ALWAYS);
        } finally {
            finish();
        }
    }

    /// A call waits here from now on, in a thread that leads.
    void beginWait() {
        lock.lock();
        try {
            waiters.getAndIncrement();
            keep();
        } finally {
            lock.unlock();
        }
    }

    void endWait() {
        lock.lock();
        waiters.getAndDecrement();
        finish();
    }

    /// A call waits for the descriptor from now on.
    void beginKernelWait(int events) {
        lock.lock();
        try {
            kernelWaiters++;
            isWatched = true;
            isWriterWaiting |= (events & POLL_WRITABLE) != 0 && !isWritable();
            keep();
        } finally {
            lock.unlock();
        }
    }

    void endKernelWait() {
        lock.lock();
        kernelWaiters--;
        finish();
    }

    // ---- waiting

    /// Waits, without the lock, until there is what is wanted: false when it may not wait.
    boolean await(BooleanSupplier wanted, boolean mayNotWait) {
        if (wanted.getAsBoolean()) {
            return true;
        }
        progress();
        return wanted.getAsBoolean() || (!mayNotWait && awaitUntil(wanted, Long.MAX_VALUE));
    }

    /// The same for bytes or for room. A program that comes again and again before the descriptor tells anything
    /// spins: it does not ask the kernel in between.
    boolean await(Untold untold, BooleanSupplier wanted, boolean mayNotWait) {
        if (wanted.getAsBoolean()) {
            untold.calls = 0;
            return true;
        }
        if (++untold.calls >= UNTOLD_MAX) {
            isWatched = kernelWaiters > 0;
        }
        return await(wanted, mayNotWait);
    }

    /// Waits as long as there is time; false when it is over.
    ///
    /// @param until a time of `System.nanoTime`, or `Long.MAX_VALUE`
    private boolean awaitUntil(BooleanSupplier wanted, long until) {
        waiters.getAndIncrement();
        boolean mayLead = true;
        try {
            while (true) {
                StreamWatch at = phase == Phase.CONNECTED ? watch() : null;
                if (at != null) {
                    isWatched = kernelWaiters > 0;
                }
                keep();
                if (wanted.getAsBoolean()) {
                    return true;
                }
                long left = until == Long.MAX_VALUE ? until : until - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                if (at != null && mayLead && at.tryLead()) {
                    mayLead = lead(at, left);
                } else {
                    follow(at, left);
                    mayLead = true;
                }
            }
        } finally {
            waiters.getAndDecrement();
        }
    }

    /// Waits as the leader, without the lock; false when that is not possible now.
    private boolean lead(StreamWatch at, long nanos) {
        lock.unlock();
        try {
            return StreamVisit.await(at, nanos);
        } finally {
            lock.lock();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // the caller asks again
    private void follow(@Nullable StreamWatch at, long nanos) {
        if (at != null) {
            at.follow(1);
        }
        try {
            long _ = changed.awaitNanos(nanos);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // threads of the program are not interrupted
        } finally {
            if (at != null) {
                at.follow(-1);
            }
        }
    }

    // ---- what calls answer

    long takeErrorOr(long otherwise) {
        long answer = error == 0 ? otherwise : error;
        error = 0;
        return answer;
    }

    long awaitRoom(ByteStream made, BooleanSupplier hasRoom, boolean nonBlocking) {
        if (!await(writes, () -> hasRoom.getAsBoolean() || !ends.mayWrite() || phase == Phase.CLOSED, nonBlocking)) {
            isWriterWaiting = true;
            return Errno.EAGAIN;
        }
        if (phase == Phase.CLOSED) {
            return Errno.EBADF;
        }
        return ends.mayWrite()
                ? 0
                : takeErrorOr(phase == Phase.ENDED && !made.isOver() ? Errno.ECONNRESET : Errno.EPIPE);
    }

    /// Waits for what is wanted, while there is a connection.
    ///
    /// @param until a time of `System.nanoTime`, or `Long.MAX_VALUE`
    /// @return false when it has passed, or the connection has ended
    boolean awaitConnected(BooleanSupplier wanted, long until) {
        progress();
        return awaitUntil(() -> phase != Phase.CONNECTED || wanted.getAsBoolean(), until) && phase == Phase.CONNECTED;
    }

    /// 0 when it is connected, or was.
    long awaitConnected(boolean nonBlocking) {
        if (!await(() -> phase != Phase.CONNECTING, nonBlocking)) {
            return Errno.EAGAIN;
        }
        return switch (phase) {
            case CONNECTED, ENDED -> 0;
            case CLOSED -> Errno.EBADF;
            default -> Errno.ENOTCONN;
        };
    }
}
