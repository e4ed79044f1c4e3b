package verbena.conformance.cases;

import java.util.HashSet;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Capability;
import verbena.verbs.QpType;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// FETCH_ADD and CMP_SWAP (IBTA 9.4.5).
@Needs({Capability.RC, Capability.ATOMICS})
public final class Atomics {
    private static final long SHOWN = 1_000;
    private static final int HALF = TestEnd.MEMORY_BYTES / 2;

    private Atomics() {}

    private static void add(Pair pair, long wrId, long amount, long at) {
        pair.a().fixture.tell("a posts FETCH_ADD " + amount);
        pair.a()
                .qp()
                .postFetchAdd(
                        wrId,
                        new RemoteMemory(pair.b().at(at), pair.b().rkey(), Long.BYTES),
                        amount,
                        pair.a().memory.slice(8 * wrId, 8));
    }

    private static void swap(Pair pair, long wrId, long compare, long swap) {
        pair.a().fixture.tell("a posts CMP_SWAP " + compare + " by " + swap);
        pair.a()
                .qp()
                .postCompareSwap(
                        wrId,
                        pair.b().memory.remote(),
                        compare,
                        swap,
                        pair.a().memory.slice(8 * wrId, 8));
    }

    /// Reads behind the atomics that have completed, so that the processor of `b` sees what they have changed.
    private static void show(Pair pair) throws InterruptedException {
        pair.a().read(SHOWN, HALF, 8, pair.b(), HALF);
        pair.a().ok(SHOWN);
    }

    public static void fetchAddReturnsWhatWasThere(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().word(0, 40);
        add(pair, 1, 2, 0);
        var done = pair.a().ok(1, WcOpcode.FETCH_ADD);
        Expect.equal("bytes", 8L, done.byteLength());
        Expect.equal("value before", 40L, pair.a().word(8));
        show(pair);
        Expect.equal("value after", 42L, pair.b().word(0));
    }

    public static void fetchAddWrapsAround(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().word(0, -1);
        add(pair, 1, 1, 0);
        pair.a().ok(1);
        show(pair);
        Expect.equal("value after", 0L, pair.b().word(0));
        add(pair, 2, -5, 0);
        pair.a().ok(2);
        show(pair);
        Expect.equal("value after", -5L, pair.b().word(0));
        pair.b().word(0, Long.MAX_VALUE);
        add(pair, 3, Long.MAX_VALUE, 0);
        pair.a().ok(3);
        show(pair);
        Expect.equal("value after", -2L, pair.b().word(0));
        add(pair, 4, 0, 0);
        pair.a().ok(4);
        show(pair);
        Expect.equal("value after adding nothing", -2L, pair.b().word(0));
    }

    public static void compareSwapReplacesWhatIsEqual(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().word(0, 0x1122_3344_5566_7788L);
        swap(pair, 1, 0x1122_3344_5566_7788L, -7);
        pair.a().ok(1, WcOpcode.COMP_SWAP);
        Expect.equal("value before", 0x1122_3344_5566_7788L, pair.a().word(8));
        show(pair);
        Expect.equal("value after", -7L, pair.b().word(0));
    }

    public static void compareSwapLeavesWhatIsNot(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().word(0, 0x1122_3344_5566_7788L);
        swap(pair, 1, 0x1122_3344_5566_7789L, -7);
        pair.a().ok(1, WcOpcode.COMP_SWAP);
        Expect.equal("value before", 0x1122_3344_5566_7788L, pair.a().word(8));
        show(pair);
        Expect.equal("value after", 0x1122_3344_5566_7788L, pair.b().word(0));
    }

    public static void onlyItsEightBytesChange(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        byte[] before = pair.b().bytes(0, 64);
        byte[] own = pair.a().bytes(0, 64);
        add(pair, 2, 1, 24);
        pair.a().ok(2);
        show(pair);
        byte[] after = pair.b().bytes(0, 64);
        System.arraycopy(before, 24, after, 24, 8);
        Expect.bytes("what is around it at b", before, after);
        byte[] ownAfter = pair.a().bytes(0, 64);
        System.arraycopy(own, 16, ownAfter, 16, 8);
        Expect.bytes("what is around the result at a", own, ownAfter);
    }

    public static void aRowOfAtomicsSeesEachBefore(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().word(0, 0);
        pair.a().post("32 FETCH_ADDs", batch -> {
            for (int i = 0; i < 32; i++) {
                batch.fetchAdd(i, pair.b().at(0), pair.b().rkey(), 3)
                        .sge(pair.a().memory, 8L * i, 8)
                        .signaled();
            }
        });
        for (int i = 0; i < 32; i++) {
            pair.a().ok(i);
            Expect.equal("value before the one at " + i, 3L * i, pair.a().word(8L * i));
        }
        show(pair);
        Expect.equal("sum", 96L, pair.b().word(0));
    }

    public static void queuePairsAddToOneWordWithoutLosingAny(Fixture fixture) throws InterruptedException {
        Pair first = fixture.rc();
        Pair[] pairs = new Pair[4];
        pairs[0] = first;
        for (int i = 1; i < pairs.length; i++) {
            pairs[i] = fixture.wire(QpType.RC).between(first.a(), first.b());
        }
        first.b().word(0, 0);
        int each = 50;
        for (int p = 0; p < pairs.length; p++) {
            int from = p * each;
            pairs[p].a().post(each + " FETCH_ADDs", batch -> {
                for (int i = 0; i < each; i++) {
                    batch.fetchAdd(from + i, first.b().at(0), first.b().rkey(), 1)
                            .sge(first.a().memory, 8L * (from + i), 8)
                            .signaled();
                }
            });
        }
        var before = new HashSet<Long>();
        for (int i = 0; i < each * pairs.length; i++) {
            var done = first.a().take();
            Expect.that("success: " + done, done instanceof verbena.verbs.Completion.Success);
            Expect.that("each value is seen once", before.add(first.a().word(8 * done.wrId())));
        }
        for (Pair pair : pairs) {
            show(pair);
        }
        Expect.equal("sum", (long) each * pairs.length, first.b().word(0));
    }

    public static void oneOfManySwapsWins(Fixture fixture) throws InterruptedException {
        Pair first = fixture.rc();
        Pair second = fixture.wire(QpType.RC).between(first.a(), first.b());
        first.b().word(0, 0);
        int winners = 0;
        for (Pair pair : new Pair[] {first, second}) {
            int from = pair == first ? 0 : 10;
            pair.a().post("10 CMP_SWAPs", batch -> {
                for (int i = 0; i < 10; i++) {
                    batch.compareSwap(from + i, first.b().at(0), first.b().rkey(), 0, 1 + from + i)
                            .sge(first.a().memory, 8L * (from + i), 8)
                            .signaled();
                }
            });
        }
        long now = 0;
        for (int i = 0; i < 20; i++) {
            var done = first.a().take();
            if (first.a().word(8 * done.wrId()) == 0) {
                winners++;
                now = done.wrId() + 1;
            }
        }
        show(first);
        show(second);
        Expect.equal("winners", 1, winners);
        Expect.equal("value", now, first.b().word(0));
    }

    /// Checks IBTA 9.4.5: an invalid request. Over iWARP it is an error of the stream (RFC 7306 5.2).
    public static void anAddressThatIsNoMultipleOfEightIsRefused(Fixture fixture) throws InterruptedException {
        for (int off : new int[] {1, 4, 7}) {
            Pair pair = fixture.rc();
            byte[] before = pair.b().bytes(0, 64);
            try {
                add(pair, 1, 1, 8 + off);
                pair.a().fails(1, fixture.isAcknowledged() ? WcStatus.REM_INV_REQ_ERR : WcStatus.REM_OP_ERR);
            } catch (IllegalArgumentException e) {
                fixture.tell("refused when it was posted: " + e.getMessage());
            }
            Expect.bytes("memory of b", before, pair.b().bytes(0, 64));
        }
    }

    public static void theResultMayLieAnywhere(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().word(0, 77);
        pair.a()
                .qp()
                .postFetchAdd(1, pair.b().memory.remote(), 1, pair.a().memory.slice(13, 8));
        pair.a().ok(1);
        Expect.equal("value before", 77L, pair.a().word(13));
    }

    public static void theLastEightBytesOfARegionCanBeReached(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        long last = TestEnd.MEMORY_BYTES - 8;
        pair.b().word(last, 1);
        add(pair, 1, 1, last);
        pair.a().ok(1);
        show(pair);
        Expect.equal("value after", 2L, pair.b().word(last));
        add(pair, 2, 1, last + 8);
        pair.a().fails(2, WcStatus.REM_ACCESS_ERR);
    }

    public static void atomicsComeAfterWritesAndBeforeReads(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().word(0, 500);
        pair.a().post("WRITE, FETCH_ADD, READ", batch -> {
            batch.write(1, pair.b().at(0), pair.b().rkey()).sge(pair.a().memory, 0, 8);
            batch.fetchAdd(2, pair.b().at(0), pair.b().rkey(), 5).sge(pair.a().memory, 64, 8);
            batch.read(3, pair.b().at(0), pair.b().rkey())
                    .sge(pair.a().memory, 128, 8)
                    .signaled();
        });
        pair.a().ok(3);
        Expect.equal("value that was added to", 500L, pair.a().word(64));
        Expect.equal("value that was read", 505L, pair.a().word(128));
    }

    public static void aFenceWaitsForAtomics(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().word(0, 123);
        pair.a().post("FETCH_ADD, and behind a fence a WRITE of its result", batch -> {
            batch.fetchAdd(1, pair.b().at(0), pair.b().rkey(), 1).sge(pair.a().memory, 0, 8);
            batch.write(2, pair.b().at(64), pair.b().rkey())
                    .sge(pair.a().memory, 0, 8)
                    .fenced();
            batch.read(3, pair.b().at(64), pair.b().rkey())
                    .sge(pair.a().memory, 8, 8)
                    .signaled();
        });
        pair.a().ok(3);
        Expect.equal("what was written", 123L, pair.a().word(8));
    }
}
