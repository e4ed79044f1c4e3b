package verbena.verbs.cm;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.VerbsException;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.waiting.TimeLimits;

/// A posted request of a [Connection]. Until it is done, its memory belongs to the device: the program must neither
/// read what it receives nor change what it sends.
///
/// Any thread may use it, and it needs no closing. The connection has no thread of its own. A thread that waits for
/// any of its requests reads the completions of all, and wakes the threads whose requests are done. When the
/// connection ends, its unfinished requests are done, with a [ConnectionException].
///
/// @param <T> type of the result: [ReceivedMessage] of a receive, [Long] of an atomic, otherwise [Void]
/// @since 0.1
public final class WorkRequest<T> {
    private final Outstanding outstanding;

    // Guarded by the lock of `outstanding`; what is after `done` is fixed once that is true.
    String verb = "";
    long wrId;

    @Nullable
    CompletableFuture<T> future;

    /// Whether it was posted, and will be completed.
    private volatile boolean posted;
    private volatile boolean done;
    private WcStatus status = WcStatus.SUCCESS;
    private String cause = "";
    private @Nullable VerbsException trouble;
    private WcOpcode opcode = WcOpcode.SEND;
    private int byteLength;
    private OptionalInt immediate = OptionalInt.empty();

    /// The value that an atomic found.
    long value;

    /// The work that is left before a program may see that it is done; null for none.
    private volatile @Nullable Runnable delivery;

    WorkRequest(Outstanding outstanding) {
        this.outstanding = outstanding;
    }

    Outstanding outstanding() {
        return outstanding;
    }

    // ---- by the program

    /// Returns whether the request is done, successfully or not. Never blocks; reads the completions that are there.
    public boolean isDone() {
        if (!done) {
            outstanding.look();
        }
        if (done) {
            deliver();
        }
        return done;
    }

    /// Waits until the request is done, and returns its result. A thread that is interrupted leaves the request
    /// outstanding.
    ///
    /// @return what a receive has received, or the value that an atomic found before it changed it; null of other
    ///     requests
    /// @throws ConnectionException when the connection has ended, or the peer refuses the request
    public T await() throws InterruptedException {
        outstanding.await(this, Long.MAX_VALUE);
        requireOk();
        return result();
    }

    /// Waits until the request is done; false when `timeout` passed. The request is then still outstanding, and a
    /// thread can wait for it again. With [java.time.Duration#ZERO] it does not wait.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer refuses the request
    public boolean await(Duration timeout) throws InterruptedException {
        if (!outstanding.await(this, TimeLimits.nanos(timeout))) {
            return false;
        }
        requireOk();
        return true;
    }

    /// Ends the whole connection, because a device does not give back a posted request. All threads that wait on the
    /// connection get a [ConnectionException]. Does nothing when the request is done.
    public void abortConnection() {
        if (!isDone()) {
            outstanding.ending().end(ConnectionException.Reason.CLOSED, verb + " was aborted");
        }
    }

    /// Returns a future of the result, to compose several. A virtual thread completes it, even while no thread
    /// waits. Cancelling it does not cancel the request. Each call returns the same future.
    public CompletableFuture<T> toFuture() {
        return outstanding.futureOf(this);
    }

    private void requireOk() {
        deliver();
        if (!isOk()) {
            throw failure();
        }
    }

    /// Returns the result of one that is done. The methods of [Connection] give each kind its type.
    @SuppressWarnings({"unchecked", "NullAway"}) // a Void has no other value
    private T result() {
        Object found = switch (opcode) {
            case RECV, RECV_RDMA_WITH_IMM -> message();
            case FETCH_ADD, COMP_SWAP -> value;
            default -> null;
        };
        return (T) found;
    }

    /// Completes its future, if it has one, on a thread of its own: what the program does then must not hold up the
    /// thread that reads. Once it is done.
    ///
    /// @return false when it has none
    boolean completeFuture() {
        CompletableFuture<T> known = future;
        if (known == null) {
            return false;
        }
        Thread.startVirtualThread(() -> {
            deliver();
            if (isOk()) {
                known.complete(result());
            } else {
                known.completeExceptionally(failure());
            }
        });
        return true;
    }

    ConnectionException failure() {
        return outstanding.ending().exception(verb, status, cause, trouble);
    }

    boolean isOk() {
        return status == WcStatus.SUCCESS;
    }

    /// Returns the offset of the 8 bytes for its result, when it is an atomic.
    long word() {
        return (int) wrId * (long) Long.BYTES;
    }

    /// Returns what it has received.
    ReceivedMessage message() {
        return new ReceivedMessage(byteLength, immediate);
    }

    /// Returns the number of bytes that are in the memory of a receive. A peer's WRITE has taken the receive, and
    /// left its memory unchanged.
    int bytesInMemory() {
        return opcode == WcOpcode.RECV_RDMA_WITH_IMM ? 0 : byteLength;
    }

    /// Sets the work that is left before a program may see that it is done. Before a program sees it.
    void deliverBy(Runnable work) {
        delivery = work;
    }

    /// Does the work that is left, once it is done. Each thread returns when that work is finished.
    void deliver() {
        if (delivery == null) {
            return;
        }
        synchronized (this) {
            Runnable work = delivery;
            if (work != null) {
                work.run();
                delivery = null;
            }
        }
    }

    /// Fails it in its delivery.
    void fail(String why) {
        status = WcStatus.LOC_LEN_ERR;
        cause = why;
        byteLength = 0;
        immediate = OptionalInt.empty();
    }

    // ---- under the lock

    /// Makes it ready to be posted, perhaps once more.
    void begin(String forVerb, long number) {
        verb = forVerb;
        wrId = number;
        status = WcStatus.SUCCESS;
        trouble = null;
        posted = false;
        done = false;
    }

    /// Notes that it was posted. Needs no lock.
    void onPosted() {
        posted = true;
    }

    boolean isPosted() {
        return posted;
    }

    boolean isFinished() {
        return done;
    }

    void finish(WorkCompletion wc) {
        status = wc.status();
        cause = wc.cause();
        opcode = wc.ok() ? wc.opcode() : WcOpcode.SEND;
        byteLength = wc.ok() ? (int) wc.byteLength() : 0;
        immediate = wc.ok() && wc.hasImmediate() ? OptionalInt.of(wc.immediate()) : OptionalInt.empty();
        done = true;
    }

    /// Ends it: no completion will come.
    void finish(VerbsException why) {
        status = WcStatus.WR_FLUSH_ERR;
        trouble = why;
        cause = String.valueOf(why.getMessage());
        done = true;
    }

    @Override
    public String toString() {
        return verb + (done ? isOk() ? ": done" : ": failed" : ": outstanding");
    }
}
