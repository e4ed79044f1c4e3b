package verbena.verbs.cm;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;
import org.openjdk.jcstress.infra.results.ZZZ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;

/// Threads that wait for requests of one connection: one of them reads the completions of all. A thread that misses
/// its wake-up finds its time limit.
public final class Waits {
    /// Far longer than any of them takes.
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

    private Waits() {}

    /// A completion queue that the scenarios fill.
    static final class Completions implements CompletionQueue {
        private final ConcurrentLinkedQueue<Long> done = new ConcurrentLinkedQueue<>();

        void add(WorkRequest<?> request) {
            done.add(request.wrId);
        }

        @Override
        public boolean poll(WorkCompletion wc) {
            Long wrId = done.poll();
            if (wrId != null) {
                CompletionAccess.fill(wc, wrId, WcStatus.SUCCESS, WcOpcode.SEND, 0, 8, 0, 0, 0, 0, "");
            }
            return wrId != null;
        }

        @Override
        public boolean await(WorkCompletion wc, Duration timeout) {
            long start = System.nanoTime();
            while (!poll(wc)) {
                if (System.nanoTime() - start > Math.min(LIMIT_NANOS, timeout.toNanos())) {
                    return false;
                }
                Thread.onSpinWait();
            }
            return true;
        }

        @Override
        public void await(WorkCompletion wc) {
            boolean _ = await(wc, Duration.ofNanos(LIMIT_NANOS));
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

    static class Requests {
        final Completions completions = new Completions();
        final Outstanding outstanding;

        Requests(int depth) {
            outstanding = new Outstanding(
                    new Ending("connection", () -> {}),
                    completions,
                    bytes -> {
                        throw new UnsupportedOperationException();
                    },
                    depth);
        }

        WorkRequest<?> post() {
            try {
                WorkRequest<?> request = outstanding.begin("send", false, Long.MAX_VALUE);
                request.onPosted();
                return request;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        boolean await(WorkRequest<?> request) {
            try {
                return outstanding.await(request, LIMIT_NANOS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /// The thread that reads the other's completion wakes it, and the one that leaves lets the other read.
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "Both are told.")
    @State
    public static class TwoWaitForTheirOwn extends Requests {
        private final WorkRequest<?> first;
        private final WorkRequest<?> second;

        public TwoWaitForTheirOwn() {
            super(2);
            first = post();
            second = post();
            completions.add(second);
        }

        @Actor
        public void one(ZZ_Result r) {
            r.r1 = await(first);
        }

        @Actor
        public void other(ZZ_Result r) {
            r.r2 = await(second);
            completions.add(first); // after it has left, so it is the first thread that has to read on
        }
    }

    /// Two threads wait for the same request.
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "Both are told.")
    @State
    public static class TwoWaitForOne extends Requests {
        private final WorkRequest<?> request;

        public TwoWaitForOne() {
            super(1);
            request = post();
            completions.add(request);
        }

        @Actor
        public void one(ZZ_Result r) {
            r.r1 = await(request);
        }

        @Actor
        public void other(ZZ_Result r) {
            r.r2 = await(request);
        }
    }

    /// A thread that only looks takes a completion, and wakes the thread that waits for it.
    @JCStressTest
    @Outcome(
            id = {"true, true", "true, false"},
            expect = Expect.ACCEPTABLE,
            desc = "The waiting thread is told; the other may have looked too early.")
    @State
    public static class LookBesideWait extends Requests {
        private final WorkRequest<?> request;

        public LookBesideWait() {
            super(1);
            request = post();
            completions.add(request);
        }

        @Actor
        public void waiting(ZZ_Result r) {
            r.r1 = await(request);
        }

        @Actor
        public void looking(ZZ_Result r) {
            r.r2 = request.isDone();
        }
    }

    /// A thread waits for room and another for the request that has it.
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "One has its room, the other its request.")
    @State
    public static class RoomBesideWait extends Requests {
        private final WorkRequest<?> request;

        public RoomBesideWait() {
            super(1);
            request = post();
            completions.add(request);
        }

        @Actor
        public void waitingForRoom(ZZ_Result r) {
            WorkRequest<?> next = post();
            r.r1 = !next.isFinished();
        }

        @Actor
        public void waiting(ZZ_Result r) {
            r.r2 = await(request);
        }
    }

    /// The end of the queue wakes a thread that waits, and a thread that comes late finds it.
    @JCStressTest
    @Outcome(id = "true, false, true", expect = Expect.ACCEPTABLE, desc = "It failed, and no more is posted.")
    @State
    public static class EndBesideWait extends Requests {
        private final WorkRequest<?> request;

        public EndBesideWait() {
            super(2);
            request = post();
        }

        @Actor
        public void waiting(ZZZ_Result r) {
            r.r1 = await(request);
            r.r2 = request.isOk();
        }

        @Actor
        public void ending() {
            outstanding.breakDown(new InvalidStateException("closed"));
            completions.add(request); // a real queue ends the wait of a thread that reads it; here it gets this
        }

        @Arbiter
        public void late(ZZZ_Result r) {
            try {
                post();
            } catch (InvalidStateException e) {
                r.r3 = true;
            }
        }
    }

    /// A scenario with two requests, of which one is withdrawn, and its place serves a third.
    @JCStressTest
    @Outcome(id = "true, true, 2", expect = Expect.ACCEPTABLE, desc = "Each has a place of its own.")
    @State
    public static class PlacesBesidePlaces extends Requests {
        private WorkRequest<?> one;
        private WorkRequest<?> other;

        public PlacesBesidePlaces() {
            super(2);
        }

        @Actor
        public void posting(ZZI_Result r) {
            WorkRequest<?> unsent = post();
            outstanding.withdraw(unsent);
            one = post();
            r.r1 = true;
        }

        @Actor
        public void postingToo(ZZI_Result r) {
            other = post();
            r.r2 = true;
        }

        @Arbiter
        public void places(ZZI_Result r) {
            completions.add(one);
            completions.add(other);
            r.r3 = (await(one) ? 1 : 0) + (await(other) && (int) one.wrId != (int) other.wrId ? 1 : 0);
        }
    }
}
