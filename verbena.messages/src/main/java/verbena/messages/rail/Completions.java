package verbena.messages.rail;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import verbena.verbs.WorkCompletion;

/// The completions of one rail, which one thread at a time reads.
public final class Completions {
    private static final int BATCH = 64;

    /// A handler of completions.
    public interface Handler {
        /// Handles completions, as [Reception#round] does.
        void round(Rail rail, @Nullable WorkCompletion first, WorkCompletion[] batch, int n, boolean areAll);
    }

    public final Rail rail;
    private final Handler handler;
    private final WorkCompletion first = new WorkCompletion();
    private final WorkCompletion[] batch = new WorkCompletion[BATCH];
    /// Whether the first completion is still to be handled.
    private boolean isKept;

    public Completions(Rail rail, Handler handler) {
        this.rail = rail;
        this.handler = handler;
        for (int i = 0; i < BATCH; i++) {
            batch[i] = new WorkCompletion();
        }
    }

    /// Handles a frame as soon as it is there, because its sender may wait for an answer. What can wait comes
    /// with the next read: a look for more frames, and the completion of a send that came with the frame.
    public boolean read(long nanos) throws InterruptedException {
        int n = rail.queue.poll(batch);
        if (isKept || n > 0) {
            WorkCompletion before = isKept ? first : null;
            isKept = false;
            round(before, n);
            return n > 0 || nanos > 0; // a caller that would sleep looks first whether it still has a reason
        }
        if (nanos == 0) {
            return false;
        }
        if (nanos == Long.MAX_VALUE) {
            rail.queue.await(first);
        } else if (!rail.queue.await(first, Duration.ofNanos(nanos))) {
            return false;
        }
        n = RequestIds.isFrame(first.wrId()) ? 0 : rail.queue.poll(batch);
        isKept = n > 0 && RequestIds.isSend(first.wrId()) && first.ok();
        round(isKept ? null : first, n);
        return true;
    }

    private void round(@Nullable WorkCompletion before, int n) {
        handler.round(rail, before, batch, n, !isKept && n < BATCH);
    }
}
