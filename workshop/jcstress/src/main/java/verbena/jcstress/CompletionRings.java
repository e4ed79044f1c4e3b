package verbena.jcstress;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.IZ_Result;
import verbena.transport.queue.CompletionRing;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// An engine pushes while other threads poll, arm, and go to sleep.
public final class CompletionRings {
    private CompletionRings() {}

    /// A ring, and the notifications of its listener.
    static class Ring implements CompletionRing.Listener {
        final CompletionRing ring;
        final WorkCompletion wc = new WorkCompletion();
        volatile int notified;
        volatile int woken;
        volatile int overflowed;

        Ring(int capacity) {
            ring = new CompletionRing(capacity, this);
        }

        void push(int number) {
            ring.push(number, WcStatus.SUCCESS, WcOpcode.SEND, number, number, number, number, number, 0, "", false);
        }

        /// Returns the number of the next completion; 0 for none, -1 when its fields belong to different
        /// completions.
        int poll() {
            return poll(wc);
        }

        int poll(WorkCompletion into) {
            if (!ring.poll(into)) {
                return 0;
            }
            int number = (int) into.wrId();
            return into.byteLength() == number && into.vendorError() == number && into.qpn() == number ? number : -1;
        }

        @Override
        public void onNotification() {
            notified++;
        }

        @Override
        public void onWake() {
            woken++;
        }

        @Override
        public void onOverflow() {
            overflowed++;
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 0", "0, 1", "1, 0", "1, 2"},
            expect = Expect.ACCEPTABLE,
            desc = "Whole and in order.")
    @State
    public static class PushBesidePoll extends Ring {
        public PushBesidePoll() {
            super(2);
        }

        @Actor
        public void engine() {
            push(1);
            push(2);
        }

        @Actor
        public void poller(II_Result r) {
            r.r1 = poll();
            r.r2 = poll();
        }
    }

    /// Slots are used again, in the order of positions.
    @JCStressTest
    @Outcome(
            id = {"1, 2, 0", "1, 2, 3"},
            expect = Expect.ACCEPTABLE,
            desc = "Whole and in order.")
    @State
    public static class SlotsAreUsedAgain extends Ring {
        private final WorkCompletion last = new WorkCompletion();

        public SlotsAreUsedAgain() {
            super(2);
            push(1);
            push(2);
        }

        @Actor
        public void engine() {
            if (ring.size() < 2) {
                push(3);
            }
        }

        @Actor
        public void poller(III_Result r) {
            r.r1 = poll();
            r.r2 = poll();
        }

        @Arbiter
        public void rest(III_Result r) {
            r.r3 = poll(last);
        }
    }

    /// A thread that arms the ring and then finds it empty is notified of the next completion.
    @JCStressTest
    @Outcome(id = "1, true", expect = Expect.ACCEPTABLE, desc = "Armed first.")
    @Outcome(id = "1, false", expect = Expect.ACCEPTABLE, desc = "Notified, and found as well.")
    @Outcome(id = "0, false", expect = Expect.ACCEPTABLE, desc = "Found.")
    @Outcome(id = "0, true", expect = Expect.FORBIDDEN, desc = "Neither notified nor found: it waits for ever.")
    @State
    public static class ArmBesidePush extends Ring {
        private boolean empty;

        public ArmBesidePush() {
            super(1);
        }

        @Actor
        public void engine() {
            push(1);
        }

        @Actor
        public void waiter() {
            ring.arm(false);
            empty = ring.isEmpty();
        }

        @Arbiter
        public void told(IZ_Result r) {
            r.r1 = notified;
            r.r2 = empty;
        }
    }

    /// A thread that announces its sleep and then finds the ring empty is woken.
    @JCStressTest
    @Outcome(
            id = {"1, true", "1, false", "0, false"},
            expect = Expect.ACCEPTABLE,
            desc = "Woken, or found.")
    @Outcome(id = "0, true", expect = Expect.FORBIDDEN, desc = "Sleeps for ever.")
    @State
    public static class SleepBesidePush extends Ring {
        private boolean empty;

        public SleepBesidePush() {
            super(1);
        }

        @Actor
        public void engine() {
            push(1);
        }

        @Actor
        public void sleeper() {
            ring.sleepers(1);
            empty = ring.isEmpty();
        }

        @Arbiter
        public void told(IZ_Result r) {
            r.r1 = woken;
            r.r2 = empty;
        }
    }

    /// The ring is armed for one notification: it comes once, whichever of two engines brings it.
    @JCStressTest
    @Outcome(
            id = {"1, 1, 2", "1, 2, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "Both are there, with one notification.")
    @State
    public static class TwoEnginesPush extends Ring {
        public TwoEnginesPush() {
            super(2);
            ring.share();
            ring.arm(false);
        }

        @Actor
        public void one() {
            push(1);
        }

        @Actor
        public void other() {
            push(2);
        }

        @Arbiter
        public void all(III_Result r) {
            r.r1 = notified;
            r.r2 = poll();
            r.r3 = poll();
        }
    }

    /// A place is free when the poll has returned, not before; an overflow is reported.
    @JCStressTest
    @Outcome(id = "1, 2, 0", expect = Expect.ACCEPTABLE, desc = "There was room.")
    @Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "There was none.")
    @State
    public static class OverflowBesidePoll extends Ring {
        public OverflowBesidePoll() {
            super(1);
            push(1);
        }

        @Actor
        public void engine() {
            push(2);
        }

        @Actor
        public void poller(III_Result r) {
            r.r1 = poll();
        }

        @Arbiter
        public void rest(III_Result r) {
            r.r2 = poll();
            r.r3 = overflowed;
        }
    }
}
