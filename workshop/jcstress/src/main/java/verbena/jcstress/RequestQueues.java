package verbena.jcstress;

import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.IZ_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;

/// A poster publishes while the engine reads and retires.
public final class RequestQueues {
    private RequestQueues() {}

    static class Sends {
        final SendQueue queue;

        Sends(int capacity) {
            queue = new SendQueue(capacity, 1, 0, (bytes, alignment) -> MemorySegment.NULL);
        }

        void post(int number) {
            SendRequest request = queue.claim();
            request.begin(SendOperation.WRITE, number);
            request.remoteAddress = number;
            request.scatter.add(number, number, number);
            queue.publish();
        }

        /// Returns the number of the request at a position; -1 when its fields belong to different requests.
        int at(long position) {
            SendRequest request = queue.at(position);
            int number = (int) request.wrId;
            return request.remoteAddress == number && request.scatter.bytes == number ? number : -1;
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 0", "1, 0", "1, 2"},
            expect = Expect.ACCEPTABLE,
            desc = "A published request is whole.")
    @State
    public static class PublishBesideSend extends Sends {
        public PublishBesideSend() {
            super(2);
        }

        @Actor
        public void poster() {
            post(1);
            post(2);
        }

        @Actor
        public void engine(II_Result r) {
            long published = queue.published();
            r.r1 = published > 0 ? at(0) : 0;
            r.r2 = published > 1 ? at(1) : 0;
        }
    }

    /// A poster does not write a slot that the engine has not retired.
    @JCStressTest
    @Outcome(
            id = {"1, 0", "1, 2"},
            expect = Expect.ACCEPTABLE,
            desc = "Read before it was used again.")
    @State
    public static class RetireBesidePost extends Sends {
        public RetireBesidePost() {
            super(1);
            post(1);
        }

        @Actor
        public void engine(II_Result r) {
            r.r1 = at(0);
            queue.retire(1);
        }

        @Actor
        public void poster() {
            if (queue.hasRoom()) {
                post(2);
            }
        }

        @Arbiter
        public void rest(II_Result r) {
            r.r2 = queue.published() > 1 ? at(1) : 0;
        }
    }

    static class Receives {
        final ReceiveQueue queue;
        final ReceiveRequest taken = new ReceiveRequest(1);
        int limits;

        Receives(int capacity) {
            queue = new ReceiveQueue(capacity, 1, () -> limits++);
        }

        void post(int number) {
            ReceiveRequest request = queue.claim();
            request.wrId = number;
            request.scatter.clear();
            request.scatter.add(number, number, number);
            queue.publish();
        }

        /// Returns the number of the oldest receive; 0 for none, -1 when its fields belong to different
        /// receives.
        int take() {
            if (!queue.take(taken)) {
                return 0;
            }
            return taken.scatter.bytes == taken.wrId ? (int) taken.wrId : -1;
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 0", "0, 1", "1, 0", "1, 2"},
            expect = Expect.ACCEPTABLE,
            desc = "Whole and in order.")
    @State
    public static class PublishBesideTake extends Receives {
        public PublishBesideTake() {
            super(2);
        }

        @Actor
        public void poster() {
            post(1);
            post(2);
        }

        @Actor
        public void engine(II_Result r) {
            r.r1 = take();
            r.r2 = take();
        }
    }

    /// A receive is copied before its slot is free.
    @JCStressTest
    @Outcome(
            id = {"1, 0", "1, 2"},
            expect = Expect.ACCEPTABLE,
            desc = "Copied before it was used again.")
    @State
    public static class TakeBesidePost extends Receives {
        public TakeBesidePost() {
            super(1);
            post(1);
        }

        @Actor
        public void engine(II_Result r) {
            r.r1 = take();
        }

        @Actor
        public void poster() {
            if (queue.hasRoom()) {
                post(2);
            }
        }

        @Arbiter
        public void rest(II_Result r) {
            r.r2 = take();
        }
    }

    /// A limit is reported once, which disarms it.
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "Armed before the take.")
    @Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "Armed after it: the next take reports it.")
    @State
    public static class LimitBesideTake extends Receives {
        public LimitBesideTake() {
            super(1);
            post(1);
        }

        @Actor
        public void engine() {
            take();
        }

        @Actor
        public void poster() {
            queue.armLimit(1);
        }

        @Arbiter
        public void rest(II_Result r) {
            r.r1 = limits;
            r.r2 = queue.limit();
        }
    }

    /// A queue pair breaks down while a receive is posted: the second of the two threads sees the first, and
    /// flushes the receive.
    @JCStressTest
    @Outcome(
            id = {"true, 0", "true, 1", "false, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "One of them flushes it.")
    @Outcome(id = "false, 0", expect = Expect.FORBIDDEN, desc = "Neither thread flushes it.")
    @State
    public static class BreakDownBesidePost extends Receives {
        private volatile boolean broken;

        public BreakDownBesidePost() {
            super(1);
        }

        @Actor
        public void poster(ZI_Result r) {
            post(1);
            r.r1 = broken;
        }

        @Actor
        public void engine(ZI_Result r) {
            broken = true;
            r.r2 = (int) queue.available();
        }
    }

    /// No request that was posted before RESET is left.
    @JCStressTest
    @Outcome(
            id = {"0, true", "2, true"},
            expect = Expect.ACCEPTABLE,
            desc = "Posted before, or after.")
    @State
    public static class DiscardBesidePost extends Receives {
        public DiscardBesidePost() {
            super(2);
            post(1);
        }

        @Actor
        public void poster() {
            post(2);
        }

        @Actor
        public void engine(IZ_Result r) {
            queue.discard();
            r.r2 = true;
        }

        @Arbiter
        public void rest(IZ_Result r) {
            r.r1 = take();
        }
    }
}
