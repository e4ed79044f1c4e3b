package verbena.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;
import verbena.verbs.waiting.TimeLimits;

/// Threads that wait for room, at a completion queue that the test fills.
@Timeout(180)
class OutstandingTest {
    private final Queue queue = new Queue();

    private static final class Queue implements CompletionQueue {
        private final LinkedBlockingQueue<Long> done = new LinkedBlockingQueue<>();
        /// Opens when a thread waits here.
        private final CountDownLatch isLed = new CountDownLatch(1);

        void complete(WorkRequest<?> request) {
            done.add(request.wrId);
        }

        @Override
        public boolean poll(WorkCompletion wc) {
            Long wrId = done.poll();
            return wrId != null && fill(wc, wrId);
        }

        @Override
        public boolean await(WorkCompletion wc, Duration timeout) throws InterruptedException {
            isLed.countDown();
            Long wrId = done.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return wrId != null && fill(wc, wrId);
        }

        @Override
        public void await(WorkCompletion wc) throws InterruptedException {
            isLed.countDown();
            boolean _ = fill(wc, done.take());
        }

        private static boolean fill(WorkCompletion wc, long wrId) {
            CompletionAccess.fill(wc, wrId, WcStatus.SUCCESS, WcOpcode.SEND, 0, 8, 0, 0, 0, 0, "");
            return true;
        }

        @Override
        public Context context() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int capacity() {
            return Integer.MAX_VALUE;
        }

        @Override
        public void arm() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void armSolicited() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void resize(int entries) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<CompletionChannel> channel() {
            return Optional.empty();
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public void close() {}
    }

    private Outstanding withRoomFor(int depth) {
        return new Outstanding(
                new Ending("connection", () -> {}),
                queue,
                bytes -> {
                    throw new UnsupportedOperationException();
                },
                depth);
    }

    /// A thread that waits for room, at the queue.
    private FutureTask<WorkRequest<Object>> waiting(Outstanding outstanding) throws InterruptedException {
        var waiting = new FutureTask<>(() -> outstanding.begin("send", false, TimeLimits.FOREVER));
        Thread.ofVirtual().start(waiting);
        queue.isLed.await();
        return waiting;
    }

    @Test
    void aThreadThatWaitsAtTheQueueHasTheRoomOfARequestThatCannotBePosted() throws Exception {
        Outstanding outstanding = withRoomFor(1);
        WorkRequest<?> refused = outstanding.begin("send", false, TimeLimits.FOREVER);
        FutureTask<WorkRequest<Object>> waiting = waiting(outstanding);
        outstanding.withdraw(refused);
        assertThat(waiting.get().isFinished()).isFalse();
    }

    @Test
    void aThreadThatWaitsAtTheQueueHasTheRoomOfARequestThatIsDone() throws Exception {
        Outstanding outstanding = withRoomFor(2);
        WorkRequest<?> first = outstanding.begin("send", false, TimeLimits.FOREVER);
        first.onPosted();
        WorkRequest<?> late = outstanding.begin("send", false, TimeLimits.FOREVER);
        FutureTask<WorkRequest<Object>> waiting = waiting(outstanding);
        late.onPosted();
        queue.complete(first);
        WorkRequest<?> next = waiting.get();
        assertThat((int) next.wrId).isEqualTo((int) first.wrId);
        assertThat(first.isFinished()).isTrue();
        assertThat(late.isFinished()).isFalse();
    }
}
