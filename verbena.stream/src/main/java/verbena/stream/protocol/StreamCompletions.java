package verbena.stream.protocol;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import verbena.verbs.CompletionQueue;
import verbena.verbs.InvalidStateException;
import verbena.verbs.WorkCompletion;

/// The completions of a [ByteStream]: threads wait for them here and take them.
final class StreamCompletions {
    private static final int BATCH = 8;

    private final CompletionQueue cq;
    private final WorkCompletion[] batch = new WorkCompletion[BATCH];
    /// Taken by [#await], and waits for [#takeAll].
    private final WorkCompletion awaited = new WorkCompletion();

    private boolean hasAwaited;

    StreamCompletions(CompletionQueue cq) {
        this.cq = cq;
        Arrays.setAll(batch, _ -> new WorkCompletion());
    }

    void arm() {
        cq.arm();
    }

    /// Waits as [ByteStream#await] does.
    ///
    /// @throws InvalidStateException when the queue is closed, also while waiting
    void await(long nanos) throws InterruptedException {
        if (nanos == Long.MAX_VALUE) {
            cq.await(awaited);
            hasAwaited = true;
        } else {
            hasAwaited = cq.await(awaited, Duration.ofNanos(nanos));
        }
    }

    /// Hands out all that there are; returns how many. When it has found some, it does not look again in vain: such
    /// a look does the device's work, which sends an acknowledgement. So it leaves together with the answer of the
    /// program, and wakes the peer once.
    int takeAll(Consumer<WorkCompletion> taker) {
        int count = 0;
        if (hasAwaited) {
            hasAwaited = false;
            taker.accept(awaited);
            count++;
        }
        int found;
        do {
            found = cq.poll(batch);
            for (int i = 0; i < found; i++) {
                taker.accept(batch[i]);
            }
            count += found;
        } while (found == BATCH);
        return count;
    }
}
