package verbena.abi.rsocket;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.rsocket.RsocketState.Phase;
import verbena.stream.protocol.ByteStream;

/// The waits of an [Rsocket]'s calls, which handle completions themselves. All with the lock of its state.
final class RsocketWaits {
    /// A program that asks the kernel comes again once before there is anything, to learn that it has all.
    private static final int UNTOLD_MAX = 4;

    /// The calls for one direction, one behind the other, that came before the descriptor told anything.
    private static final class Untold {
        private int calls;
    }

    private final RsocketState state;
    private final Readiness readiness;
    private final Attention attention;
    private final Untold reads = new Untold();
    private final Untold writes = new Untold();

    RsocketWaits(RsocketState state, Readiness readiness, Attention attention) {
        this.state = state;
        this.readiness = readiness;
        this.attention = attention;
    }

    /// Waits, without the lock, until there is what is wanted: false when it may not wait.
    boolean await(BooleanSupplier wanted, boolean mayNotWait) {
        if (wanted.getAsBoolean()) {
            return true;
        }
        attention.progress();
        return wanted.getAsBoolean() || (!mayNotWait && awaitUntil(wanted, Long.MAX_VALUE));
    }

    /// Does the same for bytes or for room. A program that comes again and again before the descriptor shows any
    /// change spins: it does not ask the kernel in between.
    private boolean await(Untold untold, BooleanSupplier wanted, boolean mayNotWait) {
        if (wanted.getAsBoolean()) {
            untold.calls = 0;
            return true;
        }
        if (++untold.calls >= UNTOLD_MAX) {
            attention.askedDirectly();
        }
        return await(wanted, mayNotWait);
    }

    /// Waits as long as there is time; false when it is over.
    ///
    /// @param until a time of `System.nanoTime`, or `Long.MAX_VALUE`
    private boolean awaitUntil(BooleanSupplier wanted, long until) {
        assert state.lock.isHeldByCurrentThread();
        attention.countWaiters(1);
        boolean mayLead = true;
        try {
            while (true) {
                StreamWatch at = state.phase == Phase.CONNECTED ? attention.watch() : null;
                if (at != null) {
                    attention.askedDirectly();
                }
                attention.keep();
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
            attention.countWaiters(-1);
        }
    }

    /// Waits as the leader, without the lock; false when that is not possible now.
    private boolean lead(StreamWatch at, long nanos) {
        state.lock.unlock();
        try {
            return StreamVisit.await(at, nanos);
        } finally {
            state.lock.lock();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // the caller asks again
    private void follow(@Nullable StreamWatch at, long nanos) {
        if (at != null) {
            at.follow(1);
        }
        try {
            long _ = attention.changed.awaitNanos(nanos);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // threads of the program are not interrupted
        } finally {
            if (at != null) {
                at.follow(-1);
            }
        }
    }

    // ---- what calls answer

    /// Waits for bytes, or for the end; false when it may not wait.
    boolean awaitBytes(ByteStream made, boolean nonBlocking) {
        return await(
                reads, () -> made.available() > 0 || !state.ends.mayRead() || state.phase == Phase.CLOSED, nonBlocking);
    }

    /// Returns 0 when there is room.
    long awaitRoom(ByteStream made, BooleanSupplier hasRoom, boolean nonBlocking) {
        if (!await(
                writes,
                () -> hasRoom.getAsBoolean() || !state.ends.mayWrite() || state.phase == Phase.CLOSED,
                nonBlocking)) {
            readiness.writerWaits();
            return Errno.EAGAIN;
        }
        if (state.phase == Phase.CLOSED) {
            return Errno.EBADF;
        }
        return state.ends.mayWrite()
                ? 0
                : state.takeErrorOr(state.phase == Phase.ENDED && !made.isOver() ? Errno.ECONNRESET : Errno.EPIPE);
    }

    /// Waits for what is wanted, while there is a connection.
    ///
    /// @param until a time of `System.nanoTime`, or `Long.MAX_VALUE`
    /// @return false when it has passed, or the connection has ended
    boolean awaitConnected(BooleanSupplier wanted, long until) {
        attention.progress();
        return awaitUntil(() -> state.phase != Phase.CONNECTED || wanted.getAsBoolean(), until)
                && state.phase == Phase.CONNECTED;
    }

    /// Waits until it is connected; returns 0 when it is, or was.
    long awaitConnected(boolean nonBlocking) {
        if (!await(() -> state.phase != Phase.CONNECTING, nonBlocking)) {
            return Errno.EAGAIN;
        }
        return switch (state.phase) {
            case CONNECTED, ENDED -> 0;
            case CLOSED -> Errno.EBADF;
            default -> Errno.ENOTCONN;
        };
    }
}
