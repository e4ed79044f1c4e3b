package verbena.jcstress;

import java.util.Set;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.openjdk.jcstress.infra.results.Z_Result;
import verbena.nic.SoftContext;
import verbena.nic.engine.SpinPolicy;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;

/// Objects of a device are closed and changed while other threads use them.
public final class Devices {
    private static final Context DEVICE =
            LinkDevice.open("quiet", new QuietLink(), System::nanoTime, SoftContext.secureRandom(), false);
    private static final ProtectionDomain DOMAIN = DEVICE.allocateProtectionDomain();
    private static final MemoryRegion REGION = DOMAIN.allocate(64, Access.local());

    private Devices() {}

    /// Returns the result of a verb.
    private static String outcome(Runnable verb) {
        try {
            verb.run();
            return "done";
        } catch (InvalidStateException e) {
            return "closed";
        }
    }

    /// Polling finds nothing or reports that the queue is closed.
    @JCStressTest
    @Outcome(
            id = {"done", "closed"},
            expect = Expect.ACCEPTABLE,
            desc = "Before, or after.")
    @State
    public static class CloseBesidePoll {
        private final CompletionQueue cq = DEVICE.createCompletionQueue(1);
        private final WorkCompletion wc = new WorkCompletion();

        @Actor
        public void closing() {
            cq.close();
        }

        @Actor
        public void poller(L_Result r) {
            r.r1 = outcome(() -> cq.poll(wc));
        }
    }

    /// A region belongs to one domain or the other, and neither domain waits for it afterwards.
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "Both domains can be closed.")
    @State
    public static class CloseBesideReregister {
        private final ProtectionDomain from = DEVICE.allocateProtectionDomain();
        private final ProtectionDomain to = DEVICE.allocateProtectionDomain();
        private final MemoryRegion region = from.allocate(64, Access.local());

        @Actor
        public void closing() {
            region.close();
        }

        @Actor
        public void moving() {
            String _ = outcome(() -> region.reregister(to, Set.of(Access.LOCAL_WRITE)));
        }

        @Arbiter
        public void domains(ZZ_Result r) {
            from.close();
            to.close();
            r.r1 = from.isClosed();
            r.r2 = to.isClosed();
        }
    }

    /// One thread posts to a queue pair that another thread closes: the request is posted or refused, and all
    /// objects can be closed.
    @JCStressTest
    @Outcome(
            id = {"done", "closed"},
            expect = Expect.ACCEPTABLE,
            desc = "Before, or after.")
    @State
    public static class CloseBesidePost {
        private final CompletionQueue cq = DEVICE.createCompletionQueue(1);
        private final QueuePair qp =
                DOMAIN.createQueuePair(QueuePairOptions.rc(cq).withDepth(1, 1));

        public CloseBesidePost() {
            qp.modify(new Transition.ToInit(Set.of()));
        }

        @Actor
        public void closing() {
            qp.close();
        }

        @Actor
        public void poster(L_Result r) {
            r.r1 = outcome(() -> qp.postReceive(1, REGION.slice(0, 8)));
        }

        @Arbiter
        public void rest() {
            cq.close();
        }
    }

    /// The completions in a queue stay, in their order, when the queue is resized.
    @JCStressTest
    @Outcome(id = "1, 2, 0", expect = Expect.ACCEPTABLE, desc = "Each once, in order.")
    @State
    public static class ResizeBesidePoll {
        private final CompletionQueue cq = DEVICE.createCompletionQueue(2);
        private final WorkCompletion wc = new WorkCompletion();

        public ResizeBesidePoll() {
            try (QueuePair qp = DOMAIN.createQueuePair(QueuePairOptions.rc(cq).withDepth(1, 2))) {
                qp.modify(new Transition.ToInit(Set.of()));
                qp.postReceive(1, REGION.slice(0, 8));
                qp.postReceive(2, REGION.slice(0, 8));
                qp.modify(new QpModification().withState(QpState.ERR)); // flushes both
            }
        }

        private int poll() {
            return cq.poll(wc) ? (int) wc.wrId() : 0;
        }

        @Actor
        public void resizing() {
            cq.resize(64);
        }

        @Actor
        public void poller(III_Result r) {
            r.r1 = poll();
            r.r2 = poll();
        }

        @Arbiter
        public void rest(III_Result r) {
            r.r3 = poll();
            cq.close();
        }
    }

    /// Waiting threads share an average: even if they overwrite each other's values, short waits are learned
    /// again.
    @JCStressTest
    @Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "Spins before it sleeps.")
    @State
    public static class SpinPolicyIsShared {
        private static final long LATER = 10_000_000_000L;

        private final SpinPolicy policy = new SpinPolicy(2);

        private boolean waits(long now, long nanos) {
            policy.begin(now);
            boolean looks = policy.looks() && policy.looksAgain(now + nanos);
            policy.end(now + nanos);
            return looks;
        }

        @Actor
        public void one() {
            boolean _ = waits(0, 1_000_000);
            boolean _ = waits(2_000_000, 1_000);
        }

        @Actor
        public void other() {
            boolean _ = waits(1_000, 1_000);
        }

        @Arbiter
        public void learnt(Z_Result r) {
            for (int i = 0; i < 400; i++) {
                r.r1 = waits(LATER + i * 10_000_000L, 10_000);
            }
        }
    }
}
