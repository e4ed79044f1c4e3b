package verbena.jcstress;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;
import org.openjdk.jcstress.infra.results.LI_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import verbena.transport.memory.MaskedAtomics;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.verbs.Access;

/// Engines look up keys while threads register and other engines bind.
public final class Memory {
    private static final int DOMAIN = 1;
    private static final int QPN = 7;
    private static final int READ = Access.REMOTE_READ.bit();
    private static final int RIGHTS = Access.bits(Access.remoteAll()) | Access.MW_BIND.bit();
    private static final AtomicLong SEEDS = new AtomicLong();
    private static final Arena ARENA = Arena.global();
    private static final MemorySegment SOME = ARENA.allocate(64, 64);

    private Memory() {}

    static class Table {
        final MemorySegment memory;
        final RandomGenerator random = new SplittableRandom(SEEDS.incrementAndGet());
        final MemoryTable table = new MemoryTable(random, 64, () -> 0);
        final MemoryTable other = table.forAnotherEngine();
        final Region region;

        Table() {
            this(SOME);
        }

        Table(MemorySegment memory) {
            this.memory = memory;
            this.region = new Region(DOMAIN, memory, 0, RIGHTS);
            table.add(region);
        }

        static MemoryVerdict check(MemoryTable by, int key) {
            return by.checkRemote(key, DOMAIN, QPN, 0, 8, READ);
        }
    }

    /// The table of keys grows while an engine looks up an old key.
    @JCStressTest
    @Outcome(id = "OK, OK", expect = Expect.ACCEPTABLE, desc = "Found in the old table or the new one.")
    @State
    public static class RegisterBesideLookUp extends Table {
        @Actor
        public void program() {
            for (int i = 0; i < 12; i++) {
                table.add(new Region(DOMAIN, memory, 0, RIGHTS));
            }
        }

        @Actor
        public void engine(LL_Result r) {
            r.r1 = check(table, region.key());
            r.r2 = check(table, region.key());
        }
    }

    /// Closing removes the key: from then on no engine finds it. A look-up that is under way finds all of the
    /// entry or nothing.
    @JCStressTest
    @Outcome(
            id = {"OK, 1", "NO_SUCH_KEY, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "Before, or after.")
    @State
    public static class CloseBesideLookUp extends Table {
        @Actor
        public void closing(LI_Result r) {
            table.remove(region);
            r.r2 = check(table, region.key()) == MemoryVerdict.NO_SUCH_KEY ? 1 : 0;
        }

        @Actor
        public void engine(LI_Result r) {
            r.r1 = check(other, region.key());
        }
    }

    /// One engine binds a window while another serves a request for it: the window is bound as a whole, or not.
    @JCStressTest
    @Outcome(
            id = {"NO_SUCH_KEY", "NOT_BOUND", "OK"},
            expect = Expect.ACCEPTABLE,
            desc = "Before, or after.")
    @State
    public static class BindBesideUse extends Table {
        private final Window window = new Window(DOMAIN, 1);
        private final int fresh;

        public BindBesideUse() {
            table.add(window);
            fresh = (window.key() & ~0xFF) | ((window.key() + 1) & 0xFF);
        }

        @Actor
        public void binding() {
            table.bind(window, fresh, region, 0, 8, READ, DOMAIN, QPN);
        }

        @Actor
        public void serving(L_Result r) {
            r.r1 = check(other, fresh);
        }
    }

    /// Two engines bind the same window at once: the region counts one.
    @JCStressTest
    @Outcome(
            id = {"OK, 1", "NOT_ALLOWED, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "One is bound.")
    @State
    public static class BindBesideBind extends Table {
        private final Window window = new Window(DOMAIN, 1);
        private final int fresh;

        public BindBesideBind() {
            table.add(window);
            fresh = (window.key() & ~0xFF) | ((window.key() + 1) & 0xFF);
        }

        @Actor
        public void one() {
            table.bind(window, fresh, region, 0, 8, READ, DOMAIN, QPN);
        }

        @Actor
        public void another(LI_Result r) {
            r.r1 = other.bind(window, fresh, region, 0, 16, READ, DOMAIN, QPN);
        }

        @Arbiter
        public void count(LI_Result r) {
            r.r2 = region.windows();
        }
    }

    /// Two engines add to one word: each gets the value before its own addition, and neither addition is lost.
    @JCStressTest
    @Outcome(
            id = {"0, 1, 3", "2, 0, 3"},
            expect = Expect.ACCEPTABLE,
            desc = "One after the other.")
    @State
    public static class AtomicBesideAtomic extends Table {
        public AtomicBesideAtomic() {
            super(Words.next());
        }

        @Actor
        public void one(JJJ_Result r) {
            check(table, region.key());
            table.fetchAdd(region.key(), 0, 1);
            r.r1 = table.original();
        }

        @Actor
        public void another(JJJ_Result r) {
            check(other, region.key());
            MaskedAtomics.fetchAdd(other, region.key(), 0, 2, Long.MIN_VALUE);
            r.r2 = other.original();
        }

        @Arbiter
        public void sum(JJJ_Result r) {
            r.r3 = memory.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /// Words that are zero, one for each state; each is used again only long afterwards.
    private static final class Words {
        private static final int COUNT = 1 << 18;
        private static final MemorySegment ALL = ARENA.allocate(64L * COUNT, 64);
        private static int next;

        static synchronized MemorySegment next() {
            MemorySegment word = ALL.asSlice(64L * (next++ & COUNT - 1), 64);
            word.fill((byte) 0);
            return word;
        }
    }
}
