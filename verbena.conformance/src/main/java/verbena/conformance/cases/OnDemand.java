package verbena.conformance.cases;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.Advice;
import verbena.verbs.Capability;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.OnDemandPaging;
import verbena.verbs.OnDemandPaging.Use;
import verbena.verbs.QpType;
import verbena.verbs.UnsupportedException;
import verbena.verbs.WcStatus;

/// Memory on demand, and regions without memory.
public final class OnDemand {
    private static final int BYTES = 64 * 1024;

    private OnDemand() {}

    private static Set<Access> access() {
        var access = EnumSet.copyOf(Access.remoteAll());
        access.add(Access.ON_DEMAND);
        return access;
    }

    public static void theDeclarationOfUsesAgreesWithTheCapability(Fixture fixture) {
        OnDemandPaging declared = fixture.attributes().memory().onDemandPaging();
        Expect.equal("on demand", fixture.has(Capability.ON_DEMAND_PAGING), !declared.equals(OnDemandPaging.NONE));
        for (QpType type : QpType.values()) {
            if (!fixture.has(type.capability())) {
                Expect.equal("uses of " + type, Set.of(), declared.uses(type));
            }
        }
    }

    @Needs(Capability.ON_DEMAND_PAGING)
    public static void requestsUseMemoryOnDemandAsTheyUseOther(Fixture fixture) throws InterruptedException {
        Set<Use> uses = fixture.attributes().memory().onDemandPaging().uses(QpType.RC);
        Pair pair = fixture.rc();
        MemorySegment memory = fixture.own(Arena.ofShared()).allocate(BYTES, 4096);
        MemoryRegion region = fixture.own(pair.b().domain.register(memory, access()));
        byte[] sent = TestEnd.bytes(pair.a().memory, 0, BYTES);
        if (uses.contains(Use.WRITE)) {
            pair.a().qp().postWrite(1, pair.a().memory.slice(0, BYTES), region.remote());
            pair.a().ok(1);
            hasArrived(pair);
            Expect.bytes("written", sent, TestEnd.bytes(region, 0, BYTES));
        }
        if (uses.contains(Use.READ)) {
            memory.fill((byte) 0x5A);
            pair.a()
                    .qp()
                    .postRead(
                            2, region.remote().slice(0, BYTES), pair.a().memory.slice(0, BYTES));
            pair.a().ok(2);
            Expect.bytes("read", TestEnd.bytes(region, 0, BYTES), TestEnd.bytes(pair.a().memory, 0, BYTES));
        }
        if (uses.containsAll(Set.of(Use.SEND, Use.RECEIVE))) {
            memory.fill((byte) 0x77);
            pair.a().qp().postReceive(3, pair.a().memory.slice(0, BYTES));
            pair.b().qp().postSend(4, region.slice(0, BYTES));
            pair.b().ok(4);
            pair.a().ok(3);
            Expect.bytes("sent", TestEnd.bytes(region, 0, BYTES), TestEnd.bytes(pair.a().memory, 0, BYTES));
            pair.b().qp().postReceive(5, region.slice(0, BYTES));
            memory.fill((byte) 0);
            pair.a().qp().postSend(6, pair.a().memory.slice(0, BYTES));
            pair.a().ok(6);
            pair.b().ok(5);
            Expect.bytes("received", TestEnd.bytes(pair.a().memory, 0, BYTES), TestEnd.bytes(region, 0, BYTES));
        }
    }

    @Needs(Capability.ON_DEMAND_PAGING)
    public static void atomicsOnMemoryOnDemandReturnWhatWasThere(Fixture fixture) throws InterruptedException {
        if (!fixture.attributes().memory().onDemandPaging().uses(QpType.RC).contains(Use.ATOMIC)) {
            return;
        }
        Pair pair = fixture.rc();
        MemorySegment memory = fixture.own(Arena.ofShared()).allocate(BYTES, 4096);
        MemoryRegion region = fixture.own(pair.b().domain.register(memory, access()));
        for (int i = 0; i < 20; i++) {
            pair.a()
                    .qp()
                    .postFetchAdd(
                            i, region.remote().slice(8), 3, pair.a().memory.slice(0, 8));
            pair.a().ok(i);
            Expect.equal("before", 3L * i, word(pair.a().memory.segment(), 0));
        }
        hasArrived(pair);
        Expect.equal("after", 60L, word(memory, 8));
    }

    /// Waits until what `a` has written or changed is in the peer's memory: the answer of a READ comes after
    /// it.
    private static void hasArrived(Pair pair) throws InterruptedException {
        pair.a().read(99, BYTES, 8, pair.b(), BYTES);
        pair.a().ok(99);
    }

    private static long word(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }

    @Needs(Capability.ON_DEMAND_PAGING)
    public static void aFileThatIsCutShortEndsTheRequestThatNeedsIt(Fixture fixture)
            throws IOException, InterruptedException {
        Path file = Files.createTempFile("verbena", ".memory");
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
            channel.truncate(4096);
            Pair first = fixture.rc();
            MemoryRegion region = fixture.own(first.b().domain.register(memory, access()));
            first.a()
                    .qp()
                    .postRead(1, region.remote().slice(0, 8), first.a().memory.slice(0, 8));
            first.a().ok(1);
            first.a()
                    .qp()
                    .postRead(
                            2,
                            region.remote().slice(BYTES - 8, 8),
                            first.a().memory.slice(0, 8));
            first.a().fails(2, WcStatus.REM_ACCESS_ERR, WcStatus.REM_OP_ERR);
            region.close();
        } finally {
            Files.delete(file);
        }
    }

    @Needs(Capability.ON_DEMAND_PAGING)
    public static void theWholeAddressSpaceIsARegionIfTheDeviceSaysSo(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        if (!fixture.attributes().memory().onDemandPaging().hasAddressSpace()) {
            Expect.thrown(
                    "register",
                    UnsupportedException.class,
                    () -> pair.a().domain.registerAddressSpace(Access.local()));
            return;
        }
        MemoryRegion all = fixture.own(pair.a().domain.registerAddressSpace(Access.local()));
        MemorySegment memory =
                fixture.own(Arena.ofShared()).allocate(BYTES, 4096).fill((byte) 0x3C);
        LocalMemory part = all.slice(memory.address(), BYTES);
        pair.a()
                .qp()
                .postWrite(1, all.slice(part.offset(), BYTES), pair.b().memory.remote());
        pair.a().ok(1);
        hasArrived(pair);
        Expect.bytes("written", new byte[] {0x3C, 0x3C}, TestEnd.bytes(pair.b().memory, BYTES - 2, 2));
    }

    @Needs(Capability.ON_DEMAND_PAGING)
    public static void adviceIsTakenOnlyAboutMemoryOnDemand(Fixture fixture) {
        TestEnd end = fixture.end();
        MemorySegment memory = fixture.own(Arena.ofShared()).allocate(BYTES, 4096);
        MemoryRegion region = fixture.own(end.domain.register(memory, access()));
        for (Advice advice : Advice.values()) {
            end.domain.advise(advice, region.slice(100, 5_000), region);
            end.domain.adviseLater(advice, region);
            Expect.thrown(
                    "of other memory", IllegalArgumentException.class, () -> end.domain.advise(advice, end.memory));
            Expect.thrown("of no memory", IllegalArgumentException.class, () -> end.domain.advise(advice));
        }
    }

    @Needs(Capability.NULL_REGION)
    public static void aRegionWithoutMemoryReadsZeros(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion none = fixture.own(pair.a().domain.allocateNull());
        pair.a().qp().postWrite(1, none.slice(0, BYTES), pair.b().memory.remote());
        pair.a().ok(1);
        hasArrived(pair);
        Expect.bytes("written", new byte[BYTES], TestEnd.bytes(pair.b().memory, 0, BYTES));
    }

    @Needs(Capability.NULL_REGION)
    public static void aRegionWithoutMemoryForgetsWhatIsWritten(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion none = fixture.own(pair.a().domain.allocateNull());
        pair.a().qp().postReceive(1, none.slice(8, BYTES));
        pair.b().qp().postSend(2, pair.b().memory.slice(0, BYTES));
        pair.b().ok(2);
        pair.a().ok(1);
        pair.a().qp().postRead(3, pair.b().memory.remote().slice(0, BYTES), none.slice(0, BYTES));
        pair.a().ok(3);
    }

    public static void aRegionWithoutMemoryThatIsNotDeclaredIsRefused(Fixture fixture) {
        if (!fixture.has(Capability.NULL_REGION)) {
            TestEnd end = fixture.end();
            Expect.thrown("allocate", UnsupportedException.class, end.domain::allocateNull);
        }
    }
}
