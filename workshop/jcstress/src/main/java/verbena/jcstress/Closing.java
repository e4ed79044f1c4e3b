package verbena.jcstress;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;
import org.openjdk.jcstress.infra.results.ZZZ_Result;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.spi.OwnedObject;

/// Closing races with closing and with creating.
public final class Closing {
    private Closing() {}

    static class Thing extends OwnedObject {
        final AtomicInteger released = new AtomicInteger();

        Thing() {
            super("thing");
        }

        Thing(Thing parent) {
            super("child");
            madeFrom(parent);
        }

        @Override
        protected void release() {
            released.incrementAndGet();
        }
    }

    /// A scenario of two closes: when a close returns, the object is closed; it is released once.
    @JCStressTest
    @Outcome(id = "true, true, 1", expect = Expect.ACCEPTABLE, desc = "Closed for both.")
    @State
    public static class CloseBesideClose {
        private final Thing thing = new Thing();

        @Actor
        public void one(ZZI_Result r) {
            thing.close();
            r.r1 = thing.isClosed() && thing.released.get() == 1;
        }

        @Actor
        public void other(ZZI_Result r) {
            thing.close();
            r.r2 = thing.isClosed() && thing.released.get() == 1;
        }

        @Arbiter
        public void count(ZZI_Result r) {
            r.r3 = thing.released.get();
        }
    }

    /// Either a child was created and the object stays open, or the object is closed and no child is created.
    @JCStressTest
    @Outcome(
            id = {"true, false, false", "false, true, true"},
            expect = Expect.ACCEPTABLE,
            desc = "One of them.")
    @State
    public static class CloseBesideMake {
        private final Thing parent = new Thing();

        @Actor
        public void making(ZZZ_Result r) {
            try {
                new Thing(parent);
                r.r1 = true;
            } catch (InvalidStateException e) {
                r.r1 = false;
            }
        }

        @Actor
        public void closing(ZZZ_Result r) {
            try {
                parent.close();
                r.r2 = true;
            } catch (InUseException e) {
                r.r2 = false;
            }
        }

        @Arbiter
        public void closed(ZZZ_Result r) {
            r.r3 = parent.isClosed();
        }
    }

    /// The parent closes after the child, or not at all; afterwards it can be closed in any case.
    @JCStressTest
    @Outcome(
            id = {"true, true, true", "true, false, true"},
            expect = Expect.ACCEPTABLE,
            desc = "After it, or later.")
    @State
    public static class CloseBesideParent {
        private final Thing parent = new Thing();
        private final Thing child = new Thing(parent);

        @Actor
        public void ofChild(ZZZ_Result r) {
            child.close();
            r.r1 = child.isClosed();
        }

        @Actor
        public void ofParent(ZZZ_Result r) {
            try {
                parent.close();
                r.r2 = child.isClosed();
            } catch (InUseException e) {
                r.r2 = false;
            }
        }

        @Arbiter
        public void both(ZZZ_Result r) {
            parent.close();
            r.r3 = parent.isClosed();
        }
    }
}
