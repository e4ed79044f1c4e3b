package verbena.nic.engine;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Mode;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Signal;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import verbena.jcstress.QuietLink;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.transport.memory.KeyTable;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

/// The ownership of an engine, its doorbells and commands, and how its thread goes to sleep.
public final class EngineDoorbells {
    private static final long WAIT_NANOS = 2_000_000_000L;

    private EngineDoorbells() {}

    private static Engine engine() {
        return new Engine(
                new QuietLink(),
                System::nanoTime,
                new KeyTable<>(new SplittableRandom(1), 2, 16, System::nanoTime),
                new EngineListener() {
                    @Override
                    public void onFailure(Throwable cause) {
                        throw new AssertionError(cause);
                    }

                    @Override
                    public void onContained(Throwable cause) {
                        throw new AssertionError(cause);
                    }

                    @Override
                    public void onSearch(PacketFate last, long sourceHigh, long sourceLow) {}
                });
    }

    /// An engine that only its callers drive.
    private static final class Driven {
        static final Engine ENGINE = engine();
    }

    /// An engine whose thread goes to sleep whenever there is nothing to do.
    private static final class Asleep {
        static final Engine ENGINE = engine();

        static {
            ENGINE.start("verbena-jcstress");
        }
    }

    private static boolean waitFor(BooleanSupplier holds) {
        long end = System.nanoTime() + WAIT_NANOS;
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }

    /// A queue pair that records its posted requests when it is polled for packets.
    static class Posted implements Protocol {
        final EngineTask task = new EngineTask(this, Transport.RC);
        volatile int posted;
        volatile int seen;

        /// Steps until the queue pair was polled: another thread may own the engine in between.
        void drive() {
            boolean _ = waitFor(() -> Driven.ENGINE.step() > 0 || seen == posted);
        }

        @Override
        public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
            return PacketFate.ACCEPTED;
        }

        @Override
        public boolean poll(Frame frame, long nowNanos) {
            seen = posted;
            return false;
        }

        @Override
        public long deadlineNanos() {
            return NEVER;
        }

        @Override
        public void onDeadline(long nowNanos) {}
    }

    /// A thread whose ring does not link the task can rely on the engine to look at the queue afterwards.
    @JCStressTest
    @Outcome(
            id = {"true, 0", "true, 1", "false, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "In the list, or seen.")
    @Outcome(id = "false, 0", expect = Expect.FORBIDDEN, desc = "Posted, and no thread looks.")
    @State
    public static class RingBesideAnswer extends Posted {
        public RingBesideAnswer() {
            task.ring();
        }

        @Actor
        public void poster(ZI_Result r) {
            posted = 1;
            r.r1 = task.ring();
        }

        @Actor
        public void engine(ZI_Result r) {
            task.answer();
            r.r2 = posted;
        }
    }

    /// A request that was posted before a ring is seen by the work that follows, on whichever thread.
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Seen.")
    @State
    public static class RingBesideStep extends Posted {
        @Actor
        public void poster() {
            posted = 1;
            Driven.ENGINE.ring(task, 1, 8, false);
        }

        @Actor
        public void driver() {
            int _ = Driven.ENGINE.step();
        }

        @Arbiter
        public void rest(I_Result r) {
            drive();
            r.r1 = seen;
        }
    }

    /// Two threads ring at once: both tasks are in the list.
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "Both are seen.")
    @State
    public static class RingBesideRing {
        private final Posted one = new Posted();
        private final Posted other = new Posted();

        @Actor
        public void first() {
            one.posted = 1;
            Driven.ENGINE.ring(one.task, 1, 8, false);
        }

        @Actor
        public void second() {
            other.posted = 1;
            Driven.ENGINE.ring(other.task, 1, 8, false);
        }

        @Arbiter
        public void rest(II_Result r) {
            one.drive();
            r.r1 = one.seen;
            other.drive();
            r.r2 = other.seen;
        }
    }

    /// Commands run one at a time, and each sees the effects of the command before.
    @JCStressTest
    @Outcome(
            id = {"1, 2", "2, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "One after the other.")
    @State
    public static class CallBesideCall {
        private int count;

        private int next() {
            return Driven.ENGINE.call(() -> ++count);
        }

        @Actor
        public void one(II_Result r) {
            r.r1 = next();
        }

        @Actor
        public void other(II_Result r) {
            r.r2 = next();
        }
    }

    /// A command for later runs once.
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Once.")
    @State
    public static class LaterBesideStep {
        private int count;

        @Actor
        public void caller() {
            Driven.ENGINE.later(() -> count++);
        }

        @Actor
        public void driver() {
            int _ = Driven.ENGINE.step();
        }

        @Arbiter
        public void rest(I_Result r) {
            r.r1 = Driven.ENGINE.call(() -> count);
        }
    }

    /// The thread that owned the engine while another posted looks again, or wakes the engine's thread. The
    /// engine's thread sees a waiting doorbell ([Burst]) before it sleeps.
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "Both leave.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A doorbell is lost.")
    @State
    public static class RingBesideSleep {
        private final Posted one = new Posted();
        private final Posted other = new Posted();

        @Actor
        public void first() {
            one.posted = 1;
            Asleep.ENGINE.ring(one.task, 1, 8, false);
        }

        @Actor
        public void second() {
            other.posted = 1;
            Asleep.ENGINE.ring(other.task, 1, 8, false);
        }

        @Arbiter
        public void rest(ZZ_Result r) {
            r.r1 = waitFor(() -> one.seen == 1);
            r.r2 = waitFor(() -> other.seen == 1);
        }
    }

    /// A command for later runs on the engine's thread, asleep or about to be, even if a poster owns the engine
    /// meanwhile.
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "Both are done.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The engine sleeps on.")
    @State
    public static class LaterBesideSleep extends Posted {
        private final AtomicInteger done = new AtomicInteger();

        @Actor
        public void caller() {
            Asleep.ENGINE.later(done::incrementAndGet);
        }

        @Actor
        public void poster() {
            posted = 1;
            Asleep.ENGINE.ring(task, 1, 8, false);
        }

        @Arbiter
        public void rest(ZZ_Result r) {
            r.r1 = waitFor(() -> done.get() == 1);
            r.r2 = waitFor(() -> seen == 1);
        }
    }

    /// A command returns, also from an engine that is being closed.
    @JCStressTest(Mode.Termination)
    @Outcome(id = "TERMINATED", expect = Expect.ACCEPTABLE, desc = "It returns.")
    @Outcome(id = "STALE", expect = Expect.FORBIDDEN, desc = "It waits for ever.")
    @State
    public static class CallBesideClose {
        private final Engine engine = EngineDoorbells.engine();
        private volatile boolean closed;

        @Actor
        public void caller() {
            int calls = 0;
            while (!closed) {
                int before = calls;
                calls = engine.call(() -> before + 1);
            }
        }

        @Signal
        public void closing() {
            engine.close();
            closed = true;
        }
    }
}
