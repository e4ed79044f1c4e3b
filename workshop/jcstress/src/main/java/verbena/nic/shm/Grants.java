package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.SplittableRandom;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.JJ_Result;
import verbena.nic.link.sharing.Neighbours;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.spi.SendOperation;

/// An initiator that uses a grant, beside the owner that withdraws it or looks at the memory.
public final class Grants {
    private static final int PAGE_WORDS = Neighbours.PAGE_BYTES / Long.BYTES;
    private static final int INDEX = 3;
    private static final long VALUE = 77;
    private static final int DOMAIN = 1;

    private Grants() {}

    /// The pages of two neighbours, and a word that the grant is for.
    static class Pages {
        final MemorySegment ofAsker = MemorySegment.ofArray(new long[PAGE_WORDS]);
        final MemorySegment ofOwner = MemorySegment.ofArray(new long[PAGE_WORDS]);
        int memory;

        Pages() {
            GrantPage.give(ofOwner, INDEX, VALUE);
        }

        void use() {
            GrantPage.begin(ofAsker, INDEX);
            if (GrantPage.state(ofOwner, INDEX) == VALUE) {
                memory = 1;
            }
            GrantPage.end(ofAsker);
        }

        /// Withdraws the grant as [GrantsGiven] does.
        void withdraw() {
            GrantPage.withdraw(ofOwner, INDEX);
            VarHandle.fullFence();
            while (GrantPage.isBusy(ofAsker, INDEX)) {
                Thread.onSpinWait();
            }
        }
    }

    /// A scenario in which the memory that the owner reads after it has withdrawn the grant does not change.
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "Withdrawn before the access.")
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "Withdrawn after the access.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The memory was changed after the grant was withdrawn.")
    @State
    public static class WithdrawBesideUse extends Pages {
        @Actor
        public void asker() {
            use();
        }

        @Actor
        public void owner(II_Result r) {
            withdraw();
            r.r1 = memory;
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = memory;
        }
    }

    /// A scenario in which no peer overwrites the bytes that the owner writes after it has withdrawn the grant.
    @JCStressTest
    @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "The owner's.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The asker has written after the grant was withdrawn.")
    @State
    public static class WriteAfterWithdrawal extends Pages {
        @Actor
        public void asker() {
            use();
            use();
        }

        @Actor
        public void owner() {
            withdraw();
            memory = 2;
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = memory;
        }
    }

    /// The last eight bytes of a WRITE are seen after all others.
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "Not yet.")
    @Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "The others have come.")
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "All have come.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The last bytes have come before others.")
    @State
    public static class LastBytesOfAWrite {
        private static final int BYTES = 64;
        private static final VarHandle LONGS = ValueLayout.JAVA_LONG.varHandle();

        private static final ThreadLocal<DirectCopy> COPY = ThreadLocal.withInitial(() -> new DirectCopy(() -> 0));
        private static final MemoryTable TABLE = new MemoryTable(new SplittableRandom(1), 4, () -> 0);
        private static final SendRequest REQUEST = request();

        private final MemorySegment target = MemorySegment.ofArray(new long[BYTES / Long.BYTES]);

        private static SendRequest request() {
            var source = MemorySegment.ofArray(new long[] {1, 1, 1, 1, 1, 1, 1, 1});
            var region = new Region(DOMAIN, source, 0, Access.LOCAL_WRITE.bit());
            TABLE.add(region);
            SendRequest request = new SendQueue(1, 1, 8, Arena.global()).claim();
            request.begin(SendOperation.WRITE, 1);
            request.scatter.add(region.key(), 0, BYTES);
            return request;
        }

        @Actor
        public void asker() {
            var _ = COPY.get().execute(REQUEST, DOMAIN, TABLE, target, 0, 0, new CopyChoice());
        }

        @Actor
        public void owner(JJ_Result r) {
            r.r1 = (long) LONGS.getAcquire(target, BYTES - 8L);
            r.r2 = target.get(ValueLayout.JAVA_LONG, BYTES - 16L);
        }
    }
}
