package verbena.conformance.cases;

import java.util.EnumSet;
import java.util.Set;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QpType;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// Memory windows: access that is granted and withdrawn by requests (IBTA 10.6.7).
public final class Windows {
    private static final Set<Access> ALL = EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE);
    private static final Set<Access> BINDABLE =
            EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.MW_BIND);
    private static final int LENGTH = 1024;

    private Windows() {}

    /// Returns a window over 1024 bytes of a region of its own, 512 from its start, with the rights to read and
    /// write.
    static MemoryWindow bound(TestEnd end, int type) throws InterruptedException {
        return bound(end, type, region(end), ALL);
    }

    private static MemoryRegion region(TestEnd end) {
        MemoryRegion region = end.fixture.own(end.domain.allocate(4096, BINDABLE));
        TestEnd.fill(region, 5);
        return region;
    }

    private static MemoryWindow bound(TestEnd end, int type, MemoryRegion region, Set<Access> access)
            throws InterruptedException {
        MemoryWindow window = end.fixture.own(end.domain.allocateWindow(MemoryWindow.Type.ofCode(type)));
        bind(end, window, region, region.address() + 512, LENGTH, access);
        return window;
    }

    private static void post(
            TestEnd end, MemoryWindow window, MemoryRegion region, long address, long length, Set<Access> access) {
        int key = window.nextRkey();
        end.post(
                "a bind of " + length + " bytes",
                batch -> batch.bindWindow(77, window, key, region, address, length, access)
                        .signaled());
    }

    private static void bind(
            TestEnd end, MemoryWindow window, MemoryRegion region, long address, long length, Set<Access> access)
            throws InterruptedException {
        post(end, window, region, address, length, access);
        end.ok(77, WcOpcode.BIND_MW);
    }

    private static void write(TestEnd a, int length, long address, int rkey) {
        a.post(
                "WRITE of " + length,
                batch -> batch.write(1, address, rkey).sge(a.memory, 0, length).signaled());
    }

    private static void read(TestEnd a, int length, long address, int rkey) {
        a.post(
                "READ of " + length,
                batch -> batch.read(1, address, rkey).sge(a.memory, 0, length).signaled());
    }

    private static void isRefused(TestEnd a) throws InterruptedException {
        a.fails(1, WcStatus.REM_ACCESS_ERR);
    }

    /// Checks that both kinds grant access inside the window.
    private static void grants(Fixture fixture, int type) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), type, region, ALL);
        long start = region.address() + 512;
        write(pair.a(), LENGTH, start, window.rkey());
        pair.a().ok(1, WcOpcode.RDMA_WRITE);
        read(pair.a(), LENGTH, start, window.rkey());
        pair.a().ok(1, WcOpcode.RDMA_READ);
        Expect.bytes(
                "what was written through the window", pair.a().bytes(0, LENGTH), TestEnd.bytes(region, 512, LENGTH));
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aWindowOfTypeOneGrantsWhatIsInside(Fixture fixture) throws InterruptedException {
        grants(fixture, 1);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_2)
    public static void aWindowOfTypeTwoGrantsWhatIsInside(Fixture fixture) throws InterruptedException {
        grants(fixture, 2);
    }

    private static void isAnEnd(Fixture fixture, int type, long from) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), type, region, ALL);
        byte[] before = TestEnd.bytes(region, 0, 4096);
        read(pair.a(), 8, region.address() + 512 + from, window.rkey());
        isRefused(pair.a());
        Expect.bytes("the region", before, TestEnd.bytes(region, 0, 4096));
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void whatIsBeforeAWindowOfTypeOneIsRefused(Fixture fixture) throws InterruptedException {
        isAnEnd(fixture, 1, -1);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void whatIsBehindAWindowOfTypeOneIsRefused(Fixture fixture) throws InterruptedException {
        isAnEnd(fixture, 1, LENGTH - 7);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_2)
    public static void whatIsBeforeAWindowOfTypeTwoIsRefused(Fixture fixture) throws InterruptedException {
        isAnEnd(fixture, 2, -1);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_2)
    public static void whatIsBehindAWindowOfTypeTwoIsRefused(Fixture fixture) throws InterruptedException {
        isAnEnd(fixture, 2, LENGTH - 7);
    }

    private static void rights(Fixture fixture, int type) throws InterruptedException {
        for (Access right : ALL) {
            Pair pair = fixture.rc();
            MemoryRegion region = region(pair.b());
            MemoryWindow window = bound(pair.b(), type, region, Set.of(right));
            long start = region.address() + 512;
            if (right == Access.REMOTE_READ) {
                read(pair.a(), 8, start, window.rkey());
                pair.a().ok(1);
                write(pair.a(), 8, start, window.rkey());
                pair.a().refused(1, WcStatus.REM_ACCESS_ERR);
            } else {
                write(pair.a(), 8, start, window.rkey());
                pair.a().ok(1);
                read(pair.a(), 8, start, window.rkey());
                isRefused(pair.a());
            }
        }
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aWindowOfTypeOneGrantsNoMoreRightsThanItWasBoundWith(Fixture fixture)
            throws InterruptedException {
        rights(fixture, 1);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_2)
    public static void aWindowOfTypeTwoGrantsNoMoreRightsThanItWasBoundWith(Fixture fixture)
            throws InterruptedException {
        rights(fixture, 2);
    }

    @Needs({Capability.MEMORY_WINDOW_TYPE_1, Capability.ATOMICS})
    public static void atomicsGoThroughAWindowThatGrantsThem(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        var access = EnumSet.copyOf(Access.remoteAll());
        access.add(Access.MW_BIND);
        MemoryRegion region = fixture.own(pair.b().domain.allocate(4096, access));
        MemoryWindow window = bound(pair.b(), 1, region, Set.of(Access.REMOTE_ATOMIC));
        pair.a()
                .qp()
                .postFetchAdd(
                        1,
                        new RemoteMemory(region.address() + 512, window.rkey(), Long.BYTES),
                        5,
                        pair.a().memory.slice(0, 8));
        pair.a().ok(1, WcOpcode.FETCH_ADD);
        pair.a()
                .qp()
                .postFetchAdd(
                        2,
                        new RemoteMemory(region.address() + 512, window.rkey(), Long.BYTES),
                        5,
                        pair.a().memory.slice(0, 8));
        pair.a().ok(2, WcOpcode.FETCH_ADD);
        Expect.equal("value before the second", 5L, pair.a().word(0));
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aWindowThatIsNotBoundGrantsNothing(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryWindow window = fixture.own(pair.b().domain.allocateWindow(MemoryWindow.Type.TYPE_1));
        read(pair.a(), 8, pair.b().at(0), window.rkey());
        isRefused(pair.a());
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void bindingATypeOneWindowAgainMovesIt(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), 1, region, ALL);
        int old = window.rkey();
        bind(pair.b(), window, region, region.address() + 2048, LENGTH, ALL);
        read(pair.a(), 8, region.address() + 2048, window.rkey());
        pair.a().ok(1);
        Expect.that("its key is another one", window.rkey() != old);
        read(pair.a(), 8, region.address() + 512, old);
        isRefused(pair.a());
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void bindingToNoBytesUnbindsATypeOneWindow(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), 1, region, ALL);
        int old = window.rkey();
        bind(pair.b(), window, region, region.address(), 0, ALL);
        region.close(); // nothing is bound to it
        read(pair.a(), 8, region.address() + 512, old);
        isRefused(pair.a());
    }

    @Needs({Capability.MEMORY_WINDOW_TYPE_2, Capability.LOCAL_INVALIDATE})
    public static void aLocalInvalidateWithdrawsATypeTwoWindow(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), 2, region, ALL);
        int key = window.rkey();
        pair.b().post("local invalidate", batch -> batch.localInvalidate(3, key).signaled());
        pair.b().ok(3, WcOpcode.LOCAL_INV);
        read(pair.a(), 8, region.address() + 512, key);
        isRefused(pair.a());
    }

    @Needs({Capability.MEMORY_WINDOW_TYPE_2, Capability.SEND_WITH_INVALIDATE})
    public static void aSendWithInvalidateWithdrawsATypeTwoWindowAndSaysSo(Fixture fixture)
            throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), 2, region, ALL);
        int key = window.rkey();
        pair.b().receive(4, 0, 100);
        pair.a()
                .post(
                        "SEND with invalidate",
                        batch -> batch.sendWithInvalidate(5, key)
                                .sge(pair.a().memory, 0, 10)
                                .signaled());
        pair.a().ok(5, WcOpcode.SEND);
        var received = pair.b().received(4, 10);
        Expect.that(
                "the completion names a withdrawn key",
                received.invalidatedRkey().isPresent());
        Expect.equal("withdrawn key", key, received.invalidatedRkey().orElseThrow());
        read(pair.a(), 8, region.address() + 512, key);
        isRefused(pair.a());
    }

    @Needs({Capability.MEMORY_WINDOW_TYPE_2, Capability.LOCAL_INVALIDATE})
    public static void aWithdrawnTypeTwoWindowBindsAgainUnderAnotherKey(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), 2, region, ALL);
        int old = window.rkey();
        pair.b().post("local invalidate", batch -> batch.localInvalidate(3, old).signaled());
        pair.b().ok(3);
        bind(pair.b(), window, region, region.address() + 512, LENGTH, ALL);
        Expect.equal("key but for its low 8 bits", old & ~0xFF, window.rkey() & ~0xFF);
        Expect.that("the low 8 bits are others", window.rkey() != old);
        read(pair.a(), 8, region.address() + 512, window.rkey());
        pair.a().ok(1);
        read(pair.a(), 8, region.address() + 512, old);
        isRefused(pair.a());
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_2)
    public static void aTypeTwoWindowThatIsBoundCannotBeBoundAgain(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), 2, region, ALL);
        post(pair.b(), window, region, region.address(), LENGTH, ALL);
        pair.b().fails(77, WcStatus.MW_BIND_ERR);
        pair.b().isBroken();
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_2)
    public static void aTypeTwoWindowIsOfTheQueuePairThatBoundIt(Fixture fixture) throws InterruptedException {
        Pair first = fixture.rc();
        Pair second = fixture.wire(QpType.RC).between(first.a(), first.b());
        MemoryRegion region = region(first.b());
        MemoryWindow window = bound(first.b(), 2, region, ALL);
        read(second.a(), 8, region.address() + 512, window.rkey());
        isRefused(second.a());
        read(first.a(), 8, region.address() + 512, window.rkey());
        first.a().ok(1);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aTypeOneWindowIsOpenToEveryQueuePairOfItsDomain(Fixture fixture) throws InterruptedException {
        Pair first = fixture.rc();
        Pair second = fixture.wire(QpType.RC).between(first.a(), first.b());
        MemoryRegion region = region(first.b());
        MemoryWindow window = bound(first.b(), 1, region, ALL);
        read(second.a(), 8, region.address() + 512, window.rkey());
        second.a().ok(1);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aBindThatReachesOverItsRegionFails(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = fixture.own(pair.b().domain.allocateWindow(MemoryWindow.Type.TYPE_1));
        post(pair.b(), window, region, region.address() + 4000, 97, ALL);
        pair.b().fails(77, WcStatus.MW_BIND_ERR);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aBindToARegionWithoutTheRightToBindFails(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryWindow window = fixture.own(pair.b().domain.allocateWindow(MemoryWindow.Type.TYPE_1));
        post(pair.b(), window, pair.b().memory, pair.b().at(0), 100, ALL);
        pair.b().fails(77, WcStatus.MW_BIND_ERR);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aWindowCannotGrantWritingToMemoryThatItsOwnerMayNotWrite(Fixture fixture)
            throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region =
                fixture.own(pair.b().domain.allocate(4096, EnumSet.of(Access.REMOTE_READ, Access.MW_BIND)));
        MemoryWindow window = fixture.own(pair.b().domain.allocateWindow(MemoryWindow.Type.TYPE_1));
        post(pair.b(), window, region, region.address(), 100, Set.of(Access.REMOTE_WRITE));
        pair.b().fails(77, WcStatus.MW_BIND_ERR);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aWindowMayGrantWhatItsRegionDoesNot(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region =
                fixture.own(pair.b().domain.allocate(4096, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND)));
        MemoryWindow window = bound(pair.b(), 1, region, ALL);
        write(pair.a(), 8, region.address() + 512, window.rkey());
        pair.a().ok(1);
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aRegionWithAWindowDoesNotClose(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), 1, region, ALL);
        Expect.thrown("closing the region", InUseException.class, region::close);
        read(pair.a(), 8, region.address() + 512, window.rkey());
        pair.a().ok(1);
        window.close();
        region.close();
        Expect.that("the region is closed", region.isClosed());
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void closingAWindowWithdrawsIt(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = bound(pair.b(), 1, region, ALL);
        int key = window.rkey();
        window.close();
        read(pair.a(), 8, region.address() + 512, key);
        isRefused(pair.a());
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aWindowOfAnotherDomainIsRefusedWhenItIsPosted(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        var other = fixture.own(pair.b().context.allocateProtectionDomain());
        MemoryWindow window = fixture.own(other.allocateWindow(MemoryWindow.Type.TYPE_1));
        MemoryRegion region = region(pair.b());
        Expect.thrown(
                "binding it",
                IllegalArgumentException.class,
                () -> post(pair.b(), window, region, region.address(), 100, ALL),
                "window");
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aRightThatNoWindowHasIsRefusedWhenItIsPosted(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = fixture.own(pair.b().domain.allocateWindow(MemoryWindow.Type.TYPE_1));
        Expect.thrown(
                "binding with MW_BIND",
                IllegalArgumentException.class,
                () -> post(pair.b(), window, region, region.address(), 100, Set.of(Access.MW_BIND)),
                "access");
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aClosedWindowCannotBeBound(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = pair.b().domain.allocateWindow(MemoryWindow.Type.TYPE_1);
        window.close();
        Expect.thrown(
                "binding it",
                InvalidStateException.class,
                () -> post(pair.b(), window, region, region.address(), 100, ALL),
                "closed");
    }

    @Needs({Capability.MEMORY_WINDOW_TYPE_2, Capability.ZERO_BASED})
    public static void aZeroBasedWindowCountsFromItsStart(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        var access = EnumSet.of(Access.REMOTE_READ, Access.ZERO_BASED);
        MemoryWindow window = bound(pair.b(), 2, region, access);
        read(pair.a(), 100, 0, window.rkey());
        pair.a().ok(1);
        Expect.bytes("what was read", TestEnd.bytes(region, 512, 100), pair.a().bytes(0, 100));
        read(pair.a(), 8, LENGTH - 7, window.rkey());
        isRefused(pair.a());
    }

    /// Checks IBTA o10-36.2.2.
    @Needs({Capability.MEMORY_WINDOW_TYPE_1, Capability.ZERO_BASED})
    public static void aWindowOfTypeOneIsNeverZeroBased(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = region(pair.b());
        MemoryWindow window = fixture.own(pair.b().domain.allocateWindow(MemoryWindow.Type.TYPE_1));
        try {
            post(pair.b(), window, region, region.address(), 8, EnumSet.of(Access.REMOTE_READ, Access.ZERO_BASED));
            pair.b().fails(77, WcStatus.MW_BIND_ERR);
        } catch (IllegalArgumentException e) {
            fixture.tell("refused when it was posted: " + e.getMessage());
        }
    }
}
