package verbena.messages;

import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import verbena.verbs.WaitSource;
import verbena.verbs.internal.Promise;
import verbena.verbs.waiting.LeaderFollowers;

/// The result of an operation of a worker: a send, a receive, a call, or an access to a peer's memory. Threads that
/// wait for it read arrivals for the whole worker. Any thread.
///
/// @param <T> type of the result
final class PendingOperation<T> extends Promise<T> {
    private final Readers readers;
    private final LeaderFollowers.WaitSet waiting = new LeaderFollowers.WaitSet();
    /// The action that takes it back, set before the program gets this.
    private BooleanSupplier withdraw = () -> false;

    PendingOperation(Readers readers) {
        this.readers = readers;
    }

    /// Something that is done already.
    @SuppressWarnings("NullAway") // a Void has no other value
    static PendingOperation<Void> done(Readers readers) {
        var pending = new PendingOperation<Void>(readers);
        pending.complete(null);
        return pending;
    }

    // ---- by the program

    @Override
    public boolean cancel() {
        return withdraw.getAsBoolean();
    }

    @Override
    protected boolean awaitDone(long nanos) throws InterruptedException {
        return readers.await(waiting, this, PendingOperation::isDone, nanos);
    }

    @Override
    protected Optional<WaitSource.Place> place() {
        return Optional.of(readers.place);
    }

    // ---- by the worker

    @Override
    protected void onDone() {
        readers.tell(waiting);
    }

    /// Sets the action that takes it back.
    void withdrawnBy(BooleanSupplier way) {
        withdraw = way;
    }

    void cancelled() {
        fail(new CancellationException("it was cancelled"));
    }
}
