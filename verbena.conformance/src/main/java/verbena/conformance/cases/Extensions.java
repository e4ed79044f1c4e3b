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
import verbena.verbs.FlushTarget;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpType;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// ATOMIC WRITE and FLUSH (IBTA A19).
@Needs({Capability.RC, Capability.ENDPOINTS})
public final class Extensions {
    private Extensions() {}

    private static Pair pair(Fixture fixture, Capability extension) throws InterruptedException {
        var access = EnumSet.copyOf(Access.remoteAll());
        if (extension == Capability.FLUSH) {
            access.add(Access.FLUSH_GLOBAL);
        }
        return fixture.wire(QpType.RC).extensions(extension).access(access).connect();
    }

    @Needs(Capability.ATOMIC_WRITE)
    public static void anAtomicWriteWritesEightBytes(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture, Capability.ATOMIC_WRITE);
        byte[] before = pair.b().bytes(0, 64);
        pair.a()
                .post(
                        "ATOMIC WRITE",
                        batch -> batch.atomicWrite(1, pair.b().at(16), pair.b().rkey(), 0x0102_0304_0506_0708L)
                                .signaled());
        pair.a().ok(1, WcOpcode.ATOMIC_WRITE);
        Expect.equal("word", 0x0102_0304_0506_0708L, pair.b().word(16));
        byte[] after = pair.b().bytes(0, 64);
        System.arraycopy(before, 16, after, 16, 8);
        Expect.bytes("what is around it", before, after);
    }

    @Needs(Capability.ATOMIC_WRITE)
    public static void anAtomicWriteNeedsAnAlignedAddress(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture, Capability.ATOMIC_WRITE);
        pair.a()
                .post(
                        "ATOMIC WRITE",
                        batch -> batch.atomicWrite(1, pair.b().at(4), pair.b().rkey(), 1)
                                .signaled());
        pair.a().fails(1, WcStatus.REM_INV_REQ_ERR);
    }

    @Needs(Capability.ATOMIC_WRITE)
    public static void anAtomicWriteNeedsTheRightToWrite(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture, Capability.ATOMIC_WRITE);
        MemoryRegion region = fixture.own(pair.b().domain.allocate(64, Access.remoteRead()));
        pair.a()
                .post(
                        "ATOMIC WRITE",
                        batch -> batch.atomicWrite(1, region.address(), region.rkey(), 1)
                                .signaled());
        pair.a().fails(1, WcStatus.REM_ACCESS_ERR);
        Expect.bytes("memory", new byte[8], TestEnd.bytes(region, 0, 8));
    }

    @Needs(Capability.ATOMIC_WRITE)
    public static void anAtomicWriteIsAskedFor(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        Expect.thrown(
                "ATOMIC WRITE",
                InvalidStateException.class,
                () -> pair.a()
                        .post(
                                "ATOMIC WRITE",
                                batch -> batch.atomicWrite(
                                        1, pair.b().at(0), pair.b().rkey(), 1)),
                "ATOMIC_WRITE");
    }

    @Needs(Capability.FLUSH)
    public static void aFlushMakesWritesVisible(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture, Capability.FLUSH);
        var access = EnumSet.copyOf(Access.remoteAll());
        access.add(Access.FLUSH_GLOBAL);
        MemoryRegion region = fixture.own(pair.b().domain.allocate(4096, access));
        for (boolean whole : new boolean[] {false, true}) {
            pair.a().post("WRITE and FLUSH", batch -> {
                batch.write(1, region.address(), region.rkey()).sge(pair.a().memory, 0, 100);
                if (whole) {
                    batch.flushRegion(2, region.rkey(), Set.of(FlushTarget.GLOBAL));
                } else {
                    batch.flush(2, region.address(), region.rkey(), 100, Set.of(FlushTarget.GLOBAL));
                }
                batch.signaled();
            });
            pair.a().ok(2, WcOpcode.FLUSH);
            Expect.bytes("what was written", pair.a().bytes(0, 100), TestEnd.bytes(region, 0, 100));
        }
    }

    @Needs(Capability.FLUSH)
    public static void aFlushNeedsItsRight(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture, Capability.FLUSH);
        pair.a()
                .post(
                        "FLUSH",
                        batch -> batch.flush(1, pair.b().at(0), pair.b().rkey(), 8, Set.of(FlushTarget.GLOBAL))
                                .signaled());
        pair.a().fails(1, WcStatus.REM_ACCESS_ERR);
    }

    @Needs(Capability.FLUSH)
    public static void aFlushOfNoKindIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture, Capability.FLUSH);
        Expect.thrown(
                "neither global nor persistent",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "FLUSH",
                                batch -> batch.flush(1, pair.b().at(0), pair.b().rkey(), 8, Set.of())),
                "targets");
    }
}
