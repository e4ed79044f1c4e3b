package verbena.abi.rsocket;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.stream.protocol.ByteStream;
import verbena.stream.protocol.StreamEnds;

/// The state of an [Rsocket]: how far it has got, its stream, and what has become of that. Guarded by its
/// lock.
final class RsocketState {
    /// The phases of an rsocket.
    enum Phase {
        NEW,
        BOUND,
        LISTENING,
        /// Asked, or accepted and not confirmed.
        CONNECTING,
        CONNECTED,
        /// The phase in which data that has arrived can still be read.
        ENDED,
        CLOSED;

        /// Returns whether a call of the program, or an event, can lead from here to `next`.
        boolean leadsTo(Phase next) {
            return switch (this) {
                case NEW -> next == BOUND || next == CONNECTING || next == CLOSED;
                case BOUND -> next == LISTENING || next == CONNECTING || next == CLOSED;
                case LISTENING -> next == CLOSED;
                case CONNECTING -> next == CONNECTED || next == ENDED || next == CLOSED;
                case CONNECTED -> next == ENDED || next == CLOSED;
                case ENDED -> next == CONNECTING || next == CLOSED;
                case CLOSED -> false;
            };
        }
    }

    final ReentrantLock lock = new ReentrantLock();
    Phase phase = Phase.NEW;

    @Nullable
    ByteStream stream;

    final StreamEnds ends = new StreamEnds();
    /// The error for `SO_ERROR`, or the next call; negative.
    long error;

    /// Whether those who wait do not know yet that something has come.
    private boolean isChanged;
    /// The time when the last data came.
    private long heardNanos;

    /// Goes on to the next phase.
    void enter(Phase next) {
        assert phase.leadsTo(next) : phase + " does not lead to " + next;
        phase = next;
    }

    /// Enters the connected phase.
    void connected() {
        assert lock.isHeldByCurrentThread();
        enter(Phase.CONNECTED);
        ends.begin();
        isChanged = true;
        heardNanos = System.nanoTime();
    }

    /// Takes what has completed, and sees what has become of the connection. For [Attention#progress], which lets
    /// those who wait know of an end.
    ///
    /// @return how many completions there were
    int progress() {
        assert lock.isHeldByCurrentThread();
        ByteStream made = stream;
        if (made == null || phase == Phase.CLOSED) {
            return 0;
        }
        int count = made.progress();
        if (count > 0) {
            isChanged = true;
            heardNanos = System.nanoTime();
        }
        if (ends.look(made) && phase == Phase.CONNECTED) {
            if (!made.isOver()) {
                error = Errno.of(made.failure());
            }
            end();
        }
        return count;
    }

    /// Ends the stream: no more bytes arrive, and none can be sent.
    void end() {
        assert lock.isHeldByCurrentThread();
        enter(Phase.ENDED);
        ends.end();
        isChanged = true;
    }

    /// Returns whether any data has come since this was asked last.
    boolean takeChange() {
        assert lock.isHeldByCurrentThread();
        boolean was = isChanged;
        isChanged = false;
        return was;
    }

    /// Returns whether there is a connection, or was one whose bytes can be read.
    boolean isUnderWay() {
        return phase == Phase.CONNECTED || (phase == Phase.ENDED && stream != null && stream.hasBegun());
    }

    long heardNanos() {
        return heardNanos;
    }

    /// Counts from `now` on as if something had come.
    void heard(long now) {
        heardNanos = now;
    }

    /// Takes the error that waits; `otherwise` when there is none.
    long takeErrorOr(long otherwise) {
        assert lock.isHeldByCurrentThread();
        long answer = error == 0 ? otherwise : error;
        error = 0;
        return answer;
    }
}
