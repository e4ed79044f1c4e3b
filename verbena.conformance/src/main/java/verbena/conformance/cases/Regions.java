package verbena.conformance.cases;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
import verbena.verbs.ProtectionDomain;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcStatus;

/// Memory regions: what can be registered, its keys and its end.
public final class Regions {
    private Regions() {}

    private static Arena arena(Fixture fixture) {
        return fixture.own(Arena.ofShared());
    }

    public static void nativeMemoryIsRegisteredWhereverItLies(Fixture fixture) {
        TestEnd end = fixture.end();
        MemorySegment memory = arena(fixture).allocate(20_000, 4096);
        for (long[] part : new long[][] {{0, 1}, {0, 20_000}, {1, 1}, {4095, 2}, {4096, 4096}, {7, 12_345}}) {
            MemorySegment segment = memory.asSlice(part[0], part[1]);
            try (MemoryRegion region = end.domain.register(segment, Access.remoteAll())) {
                Expect.equal("address", segment.address(), region.address());
                Expect.equal("length", part[1], region.length());
                Expect.equal(
                        "the segment's address",
                        segment.address(),
                        region.segment().address());
                Expect.that("the domain is its own", region.protectionDomain() == end.domain);
            }
        }
    }

    public static void memoryOnTheHeapIsRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        MemorySegment heap = MemorySegment.ofArray(new byte[100]);
        Expect.thrown(
                "register", IllegalArgumentException.class, () -> end.domain.register(heap, Access.local()), "heap");
    }

    public static void memoryOfOneThreadIsRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment its = confined.allocate(100);
            Expect.thrown(
                    "register",
                    IllegalArgumentException.class,
                    () -> end.domain.register(its, Access.local()),
                    "confined");
        }
    }

    public static void memoryThatCannotBeWrittenIsRefusedTheRightToWrite(Fixture fixture) {
        TestEnd end = fixture.end();
        MemorySegment fixed = arena(fixture).allocate(100).asReadOnly();
        Expect.thrown(
                "register",
                IllegalArgumentException.class,
                () -> end.domain.register(fixed, Access.local()),
                "read-only");
    }

    public static void remoteWritingWithoutLocalWritingIsRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        for (Access right : new Access[] {Access.REMOTE_WRITE, Access.REMOTE_ATOMIC}) {
            Expect.thrown(
                    right + " alone",
                    IllegalArgumentException.class,
                    () -> end.domain.allocate(100, Set.of(right)),
                    "LOCAL_WRITE");
        }
    }

    public static void noMemoryAtAllIsRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        for (long bytes : new long[] {0, -1}) {
            Expect.thrown(
                    bytes + " bytes", IllegalArgumentException.class, () -> end.domain.allocate(bytes, Access.local()));
        }
    }

    public static void allocatedMemoryIsZero(Fixture fixture) {
        TestEnd end = fixture.end();
        for (int round = 0; round < 3; round++) {
            try (MemoryRegion region = end.domain.allocate(10_000, Access.local())) {
                Expect.bytes("memory", new byte[10_000], TestEnd.bytes(region, 0, 10_000));
                region.segment().fill((byte) 0xEE);
            }
        }
    }

    public static void aRegionKnowsWhatItWasMadeWith(Fixture fixture) {
        TestEnd end = fixture.end();
        for (Set<Access> access : Set.of(Access.local(), Access.remoteAll(), EnumSet.of(Access.REMOTE_READ))) {
            try (MemoryRegion region = end.domain.allocate(4096, access)) {
                Expect.equal("rights", access, region.access());
                Expect.equal(
                        "remote memory's address",
                        region.address(),
                        region.remote().address());
                Expect.equal(
                        "remote memory's key", region.rkey(), region.remote().rkey());
                Expect.equal("remote memory's length", 4096L, region.remote().length());
            }
        }
    }

    public static void keysOfOpenRegionsDiffer(Fixture fixture) {
        TestEnd end = fixture.end();
        var keys = new HashSet<Integer>();
        var regions = new ArrayList<MemoryRegion>();
        MemorySegment memory = arena(fixture).allocate(4096);
        int many = Math.min(300, fixture.attributes().memory().maxMr() / 2);
        for (int i = 0; i < many; i++) {
            MemoryRegion region = fixture.own(end.domain.register(memory, Access.remoteAll()));
            regions.add(region);
            Expect.that("key of region " + i + " is its own", keys.add(region.rkey()));
        }
        regions.forEach(MemoryRegion::close);
    }

    public static void theSameMemoryCanBeRegisteredTwiceWithOtherRights(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemorySegment memory = arena(fixture).allocate(4096, 4096);
        MemoryRegion open = fixture.own(pair.b().domain.register(memory, Access.remoteAll()));
        MemoryRegion shut = fixture.own(pair.b().domain.register(memory, Access.local()));
        pair.a().qp().postRead(1, open.remote().slice(0, 8), pair.a().memory.slice(0, 8));
        pair.a().ok(1);
        shut.close();
        pair.a().qp().postRead(2, open.remote().slice(0, 8), pair.a().memory.slice(0, 8));
        pair.a().ok(2);
        MemoryRegion again = fixture.own(pair.b().domain.register(memory, Access.local()));
        pair.a().qp().postRead(3, again.remote().slice(0, 8), pair.a().memory.slice(0, 8));
        pair.a().fails(3, WcStatus.REM_ACCESS_ERR);
    }

    public static void aClosedRegionIsRefusedToThePeer(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = fixture.own(pair.b().domain.allocate(4096, Access.remoteAll()));
        pair.a().qp().postRead(1, region.remote().slice(0, 8), pair.a().memory.slice(0, 8));
        pair.a().ok(1);
        region.close();
        region.close();
        Expect.that("it is closed", region.isClosed());
        pair.a().qp().postRead(2, region.remote().slice(0, 8), pair.a().memory.slice(0, 8));
        pair.a().fails(2, WcStatus.REM_ACCESS_ERR);
    }

    public static void aClosedRegionIsRefusedWhenItIsPosted(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = pair.a().domain.allocate(4096, Access.local());
        region.close();
        Expect.thrown(
                "a SEND from it",
                InvalidStateException.class,
                () -> pair.a().qp().postSend(1, region.slice(0, 8)),
                "closed");
        Expect.thrown(
                "a receive into it",
                InvalidStateException.class,
                () -> pair.a().qp().postReceive(1, region.slice(0, 8)),
                "closed");
    }

    public static void aClosedRegionGivesItsMemoryToNobody(Fixture fixture) {
        MemoryRegion region = fixture.end().domain.allocate(4096, Access.local());
        region.close();
        Expect.thrown("its memory", InvalidStateException.class, region::segment, "closed");
        Expect.thrown(
                "a part of it",
                InvalidStateException.class,
                () -> region.slice(8).segment(),
                "closed");
    }

    public static void aReceiveIntoARegionThatWasClosedFails(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = fixture.own(pair.b().domain.allocate(4096, Access.local()));
        pair.b().qp().postReceive(9, region.slice(0, 100));
        region.close();
        pair.a().send(1, 0, 8);
        pair.b().fails(9, WcStatus.LOC_PROT_ERR);
        pair.a().refused(1, WcStatus.REM_OP_ERR);
    }

    public static void keysOfClosedRegionsDoNotOpenNewOnes(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion old = pair.b().domain.allocate(4096, Access.remoteAll());
        int key = old.rkey();
        old.close();
        for (int i = 0; i < 20; i++) {
            MemoryRegion fresh = fixture.own(pair.b().domain.allocate(4096, Access.remoteAll()));
            Expect.that("the key of region " + i + " is not the old one", fresh.rkey() != key);
        }
        pair.a()
                .qp()
                .postRead(
                        2,
                        new RemoteMemory(old.address(), key, 8),
                        pair.a().memory.slice(0, 8));
        pair.a().fails(2, WcStatus.REM_ACCESS_ERR);
    }

    @Needs(Capability.IOVA)
    public static void anAddressOfChoiceIsWhatThePeerNames(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemorySegment memory = arena(fixture).allocate(8192, 4096);
        memory.set(ValueLayout.JAVA_LONG, 1024, 0x1122334455667788L);
        long iova = 0x7000_0000_0000L + memory.address() % 4096;
        MemoryRegion region = fixture.own(pair.b().domain.register(memory, iova, Access.remoteAll()));
        Expect.equal("address", iova, region.address());
        pair.a()
                .qp()
                .postRead(
                        1,
                        new RemoteMemory(iova + 1024, region.rkey(), 8),
                        pair.a().memory.slice(0, 8));
        pair.a().ok(1);
        Expect.equal("what was read", 0x1122334455667788L, pair.a().word(0));
        pair.a()
                .qp()
                .postRead(
                        2,
                        new RemoteMemory(memory.address(), region.rkey(), 8),
                        pair.a().memory.slice(0, 8));
        pair.a().fails(2, WcStatus.REM_ACCESS_ERR);
    }

    @Needs(Capability.IOVA)
    public static void anAddressOfChoiceIsWhatTheOwnerNamesByKey(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemorySegment memory = arena(fixture).allocate(8192, 4096);
        memory.set(ValueLayout.JAVA_LONG, 0, 42);
        long iova = 0x10_0000L + memory.address() % 4096;
        MemoryRegion region = fixture.own(pair.a().domain.register(memory, iova, Access.local()));
        pair.a()
                .post(
                        "WRITE by key",
                        batch -> batch.write(1, pair.b().at(0), pair.b().rkey())
                                .sge(region.lkey(), iova, 8)
                                .signaled());
        pair.a().ok(1);
        pair.a().read(2, 64, 8, pair.b(), 0); // so that it has arrived over iWARP too
        pair.a().ok(2);
        Expect.equal("what was written", 42L, pair.b().word(0));
    }

    @Needs(Capability.ZERO_BASED)
    public static void aZeroBasedRegionBeginsAtZero(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        var access = EnumSet.copyOf(Access.remoteAll());
        access.add(Access.ZERO_BASED);
        MemorySegment memory = arena(fixture).allocate(4096, 4096);
        memory.set(ValueLayout.JAVA_LONG, 8, 77);
        MemoryRegion region = fixture.own(pair.b().domain.register(memory, access));
        Expect.equal("address", 0L, region.address());
        pair.a()
                .qp()
                .postRead(
                        1,
                        new RemoteMemory(8, region.rkey(), 8),
                        pair.a().memory.slice(0, 8));
        pair.a().ok(1);
        Expect.equal("what was read", 77L, pair.a().word(0));
        pair.a()
                .qp()
                .postRead(
                        2,
                        new RemoteMemory(4089, region.rkey(), 8),
                        pair.a().memory.slice(0, 8));
        pair.a().fails(2, WcStatus.REM_ACCESS_ERR);
    }

    @Needs(Capability.REREGISTER)
    public static void rightsChangeAndKeysStay(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = fixture.own(pair.b().domain.allocate(4096, Access.local()));
        int key = region.rkey();
        region.reregister(pair.b().domain, Access.remoteAll());
        Expect.equal("key", key, region.rkey());
        Expect.equal("rights", Access.remoteAll(), region.access());
        pair.a()
                .qp()
                .postRead(
                        1,
                        new RemoteMemory(region.address(), key, 8),
                        pair.a().memory.slice(0, 8));
        pair.a().ok(1);
        region.reregister(pair.b().domain, Access.local());
        pair.a()
                .qp()
                .postRead(
                        2,
                        new RemoteMemory(region.address(), key, 8),
                        pair.a().memory.slice(0, 8));
        pair.a().fails(2, WcStatus.REM_ACCESS_ERR);
    }

    @Needs(Capability.REREGISTER)
    public static void aRegionMovesToAnotherDomain(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        var other = fixture.own(pair.b().context.allocateProtectionDomain());
        MemoryRegion region = fixture.own(other.allocate(4096, Access.remoteAll()));
        region.reregister(pair.b().domain, Access.remoteAll());
        Expect.that("its domain is the new one", region.protectionDomain() == pair.b().domain);
        other.close(); // nothing is in it any more
        pair.a().qp().postRead(1, region.remote().slice(0, 8), pair.a().memory.slice(0, 8));
        pair.a().ok(1);
    }

    /// Checks that no domain waits afterwards for a region that is closed, whichever comes first.
    @Needs(Capability.REREGISTER)
    public static void aRegionIsClosedWhileItMovesToAnotherDomain(Fixture fixture) throws Exception {
        for (int round = 0; round < 50; round++) {
            ProtectionDomain from = fixture.a().allocateProtectionDomain();
            ProtectionDomain to = fixture.a().allocateProtectionDomain();
            MemoryRegion region = from.allocate(4096, Access.local());
            var moving = CompletableFuture.runAsync(() -> {
                try {
                    region.reregister(to, Access.local());
                } catch (InvalidStateException e) {
                    // it was closed before
                }
            });
            region.close();
            moving.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS);
            to.close();
            from.close();
        }
    }

    @Needs({Capability.REREGISTER, Capability.MEMORY_WINDOW_TYPE_1})
    public static void aRegionWithAWindowIsNotRegisteredAnew(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        var access = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.MW_BIND);
        MemoryRegion region = fixture.own(pair.b().domain.allocate(4096, access));
        var window = fixture.own(pair.b().domain.allocateWindow(MemoryWindow.Type.TYPE_1));
        pair.b()
                .post(
                        "bind",
                        batch -> batch.bindWindow(
                                        1,
                                        window,
                                        window.nextRkey(),
                                        region,
                                        region.address(),
                                        8,
                                        Set.of(Access.REMOTE_READ))
                                .signaled());
        pair.b().ok(1);
        Expect.thrown("reregister", InUseException.class, () -> region.reregister(pair.b().domain, access));
    }

    public static void aClosedArenaIsAStatusAndNoCrash(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region;
        try (Arena arena = Arena.ofShared()) {
            region = fixture.own(pair.b().domain.register(arena.allocate(8192, 4096), Access.remoteAll()));
        }
        pair.a().qp().postRead(1, region.remote().slice(0, 8), pair.a().memory.slice(0, 8));
        pair.a().fails(1, WcStatus.REM_ACCESS_ERR, WcStatus.REM_OP_ERR);
        region.close();
    }

    public static void regionsComeAndGo(Fixture fixture) {
        TestEnd end = fixture.end();
        MemorySegment memory = arena(fixture).allocate(64 * 1024, 4096);
        for (int i = 0; i < 500; i++) {
            end.domain.register(memory, Access.remoteAll()).close();
        }
    }
}
