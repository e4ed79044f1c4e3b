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
/// @since 0.1
public final class WorkRequest {
    private final Outstanding outstanding;

    // Guarded by the lock of `outstanding`; what is after `done` is fixed once that is true.
    String verb = "";
    long wrId;

    @Nullable
    CompletableFuture<WorkRequest> future;

    /// Whether it was posted, and will be completed.
    private volatile boolean posted;
    private volatile boolean done;
    private WcStatus status = WcStatus.SUCCESS;
    private String cause = "";
    private @Nullable VerbsException trouble;
    private int byteLength;
    private boolean hasImmediate;
    private int immediate;
    /// Whether the peer's WRITE has taken this receive, and left its memory unchanged.
    private boolean isWrite;

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

    /// Returns whether it is done, successfully or not. Never blocks; reads the completions that are there.
    public boolean isDone() {
        if (!done) {
            outstanding.look();
        }
        if (done) {
            deliver();
        }
        return done;
    }

    /// Waits until it is done. A thread that is interrupted leaves the request outstanding.
    ///
    /// @return this
    /// @throws ConnectionException when the connection has ended, or the peer refuses the request
    public WorkRequest await() throws InterruptedException {
        outstanding.await(this, Long.MAX_VALUE);
        return checked();
    }

    /// Waits until it is done; false when `timeout` passed. The request is then still outstanding, and a thread can
    /// wait for it again. With [java.time.Duration#ZERO] it does not wait.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer refuses the request
    public boolean await(Duration timeout) throws InterruptedException {
        if (!outstanding.await(this, TimeLimits.nanos(timeout))) {
            return false;
        }
        checked();
        return true;
    }

    /// Ends the whole connection, because a device does not give back a posted request. All threads that wait on the
    /// connection get a [ConnectionException]. Does nothing when the request is done.
    public void abortConnection() {
        if (!isDone()) {
            outstanding.ending().end(ConnectionException.Reason.CLOSED, verb + " was aborted");
        }
    }

    /// Returns a future of this request, to compose several. A virtual thread completes it, even while no thread
    /// waits. Cancelling it does not cancel the request. Each call returns the same future.
    public CompletableFuture<WorkRequest> toFuture() {
        return outstanding.futureOf(this);
    }

    /// Returns the number of bytes received or read, or those that the peer's WRITE with immediate data has written.
    /// It has no meaning for a SEND or a WRITE of this side.
    ///
    /// @throws IllegalStateException when it is not done
    public int byteLength() {
        return known(byteLength);
    }

    /// Returns whether the message had immediate data. Only a receive can have them.
    ///
    /// @throws IllegalStateException when it is not done
    public boolean hasImmediate() {
        return known(hasImmediate ? 1 : 0) != 0;
    }

    /// Returns the 32 bits of immediate data that the peer sent.
    ///
    /// @throws IllegalStateException when it is not done, or had none
    public int immediate() {
        if (!hasImmediate()) {
            throw new IllegalStateException(verb + ": the message had no immediate data");
        }
        return immediate;
    }

    /// Returns the value that an atomic found before it changed it. It has no meaning for other requests.
    ///
    /// @throws IllegalStateException when it is not done
    public long value() {
        known(0);
        return value;
    }

    private int known(int result) {
        if (!done) {
            throw new IllegalStateException(verb + ": the request is outstanding");
        }
        return result;
    }

    private WorkRequest checked() {
        deliver();
        if (!isOk()) {
            throw failure();
        }
        return this;
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
        return new ReceivedMessage(byteLength, hasImmediate ? OptionalInt.of(immediate) : OptionalInt.empty());
    }

    /// Returns the number of bytes that are in the memory of a receive.
    int bytesInMemory() {
        return isWrite ? 0 : byteLength;
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
        hasImmediate = false;
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
        byteLength = wc.ok() ? (int) wc.byteLength() : 0;
        hasImmediate = wc.ok() && wc.hasImmediate();
        immediate = wc.ok() ? wc.immediate() : 0;
        isWrite = wc.ok() && wc.opcode() == WcOpcode.RECV_RDMA_WITH_IMM;
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
