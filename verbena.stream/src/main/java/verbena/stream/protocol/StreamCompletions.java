package verbena.stream.protocol;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import verbena.verbs.CompletionQueue;
import verbena.verbs.InvalidStateException;
import verbena.verbs.WorkCompletion;

/// The completions of a [ByteStream]: threads wait for them here and take them.
final class StreamCompletions {
    private static final int BATCH_MAX = 8;

    private final CompletionQueue cq;
    /// Places for completions: more than were ever found at once, so a stream without traffic has few.
    private WorkCompletion[] batch = {new WorkCompletion()};
    /// Whether [#await] has taken the first of the batch, which waits for [#takeAll].
    private boolean hasAwaited;

    StreamCompletions(CompletionQueue cq) {
        this.cq = cq;
    }

    void arm() {
        cq.arm();
    }

    /// Waits as [ByteStream#await] does.
    ///
    /// @throws InvalidStateException when the queue is closed, also while waiting
    void await(long nanos) throws InterruptedException {
        if (nanos == Long.MAX_VALUE) {
            cq.await(batch[0]);
            hasAwaited = true;
        } else {
            hasAwaited = cq.await(batch[0], Duration.ofNanos(nanos));
        }
    }

    /// Hands out all that there are; returns how many. When it has found some, it does not look again in vain: such
    /// a look does the device's work, which sends an acknowledgement. So it leaves together with the answer of the
    /// program, and wakes the peer once.
    int takeAll(Consumer<WorkCompletion> taker) {
        int count = 0;
        if (hasAwaited) {
            hasAwaited = false;
            taker.accept(batch[0]);
            count++;
        }
        boolean mayBeMore;
        do {
            int found = cq.poll(batch);
            for (int i = 0; i < found; i++) {
                taker.accept(batch[i]);
            }
            count += found;
            mayBeMore = found == batch.length;
            if (mayBeMore && found < BATCH_MAX) {
                grow();
            }
        } while (mayBeMore);
        return count;
    }

    private void grow() {
        int known = batch.length;
        batch = Arrays.copyOf(batch, 2 * known);
        for (int i = known; i < batch.length; i++) {
            batch[i] = new WorkCompletion();
        }
    }
}
