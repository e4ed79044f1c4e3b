package verbena.conformance.cases;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.DeviceMemory;
import verbena.verbs.InUseException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.VerbsException;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// Memory of the device (ibv_alloc_dm(3)).
@Needs(Capability.DEVICE_MEMORY)
public final class DeviceMemories {
    private static final int BYTES = 1024;

    private DeviceMemories() {}

    private static MemorySegment bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return MemorySegment.ofArray(bytes);
    }

    private static void holds(DeviceMemory memory, long offset, MemorySegment wanted) {
        MemorySegment found = MemorySegment.ofArray(new byte[(int) wanted.byteSize()]);
        memory.read(offset, found);
        Expect.equal("bytes from " + offset + " that are as written", -1L, wanted.mismatch(found));
    }

    public static void whatIsWrittenIsRead(Fixture fixture) {
        DeviceMemory memory = fixture.own(fixture.end().context.allocateDeviceMemory(BYTES));
        Expect.equal("length", (long) BYTES, memory.length());
        holds(memory, 0, MemorySegment.ofArray(new byte[BYTES]));
        memory.write(8, bytes(1, 2, 3, 4));
        holds(memory, 4, bytes(0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0));
    }

    public static void copiesStayInside(Fixture fixture) throws Exception {
        DeviceMemory memory = fixture.own(fixture.end().context.allocateDeviceMemory(BYTES));
        Expect.thrown("an odd offset", IllegalArgumentException.class, () -> memory.write(3, bytes(1, 2, 3, 4)));
        Expect.thrown("an odd length", IllegalArgumentException.class, () -> memory.read(4, bytes(1, 2, 3)));
        Expect.thrown("behind", IndexOutOfBoundsException.class, () -> memory.write(BYTES, bytes(1, 2, 3, 4)));
        Expect.thrown("before", IndexOutOfBoundsException.class, () -> memory.read(-4, bytes(1, 2, 3, 4)));
    }

    public static void thereIsOnlySoMuch(Fixture fixture) throws Exception {
        var context = fixture.end().context;
        long max = context.attributes().memory().maxDeviceMemoryBytes();
        Expect.thrown("more than all", ResourceLimitException.class, () -> context.allocateDeviceMemory(max + 4));
        Expect.thrown("none", IllegalArgumentException.class, () -> context.allocateDeviceMemory(0));
    }

    public static void aRegionStaysInside(Fixture fixture) throws Exception {
        var end = fixture.end();
        DeviceMemory memory = fixture.own(end.context.allocateDeviceMemory(BYTES));
        Expect.thrown(
                "too long",
                IndexOutOfBoundsException.class,
                () -> end.domain.register(memory, 4, BYTES, Access.local()));
        MemoryRegion region = fixture.own(end.domain.register(memory, 0, BYTES, Access.local()));
        Expect.equal("address", 0L, region.address());
        Expect.equal("zero-based", true, region.access().contains(Access.ZERO_BASED));
        Expect.thrown("segment", VerbsException.class, region::segment);
        Expect.thrown("closing it first", InUseException.class, memory::close);
    }

    @Needs(Capability.RC)
    public static void peersReachIt(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        DeviceMemory memory = fixture.own(pair.b().context.allocateDeviceMemory(BYTES));
        MemoryRegion region = fixture.own(pair.b().domain.register(memory, 256, 256, Access.remoteAll()));
        pair.a().qp().postWrite(1, pair.a().memory.slice(0, 64), new RemoteMemory(16, region.rkey(), 64));
        pair.a().ok(1, WcOpcode.RDMA_WRITE);
        pair.a()
                .qp()
                .postRead(
                        2,
                        new RemoteMemory(16, region.rkey(), 64),
                        pair.a().memory.slice(4096, 64));
        pair.a().ok(2, WcOpcode.RDMA_READ);
        byte[] sent = pair.a().bytes(0, 64);
        Expect.bytes("what came back", sent, pair.a().bytes(4096, 64));
        holds(memory, 272, MemorySegment.ofArray(sent));
    }

    @Needs(Capability.RC)
    public static void itIsSentFromAndReceivedInto(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        DeviceMemory from = fixture.own(pair.a().context.allocateDeviceMemory(BYTES));
        DeviceMemory into = fixture.own(pair.b().context.allocateDeviceMemory(BYTES));
        MemoryRegion source = fixture.own(pair.a().domain.register(from, 0, BYTES, Access.local()));
        MemoryRegion target = fixture.own(pair.b().domain.register(into, 0, BYTES, Access.local()));
        from.write(0, bytes(9, 8, 7, 6, 5, 4, 3, 2));
        pair.b().qp().postReceive(1, target.slice(16, 64));
        pair.a().qp().postSend(2, source.slice(0, 8));
        pair.a().ok(2);
        pair.b().received(1, 8);
        holds(into, 16, bytes(9, 8, 7, 6, 5, 4, 3, 2, 0, 0, 0, 0));
    }

    @Needs({Capability.RC, Capability.ATOMICS})
    public static void atomicsWorkOnIt(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        DeviceMemory memory = fixture.own(pair.b().context.allocateDeviceMemory(BYTES));
        MemoryRegion region = fixture.own(pair.b().domain.register(memory, 0, BYTES, Access.remoteAll()));
        for (int i = 0; i < 3; i++) {
            pair.a()
                    .qp()
                    .postFetchAdd(
                            i,
                            new RemoteMemory(8, region.rkey(), Long.BYTES),
                            5,
                            pair.a().memory.slice(0, 8));
            pair.a().ok(i, WcOpcode.FETCH_ADD);
            Expect.equal("value before", 5L * i, pair.a().word(0));
        }
    }

    @Needs(Capability.RC)
    public static void itsRightsAreKept(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        DeviceMemory memory = fixture.own(pair.b().context.allocateDeviceMemory(BYTES));
        MemoryRegion region = fixture.own(
                pair.b().domain.register(memory, 0, BYTES, Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE)));
        pair.a()
                .qp()
                .postRead(
                        1,
                        new RemoteMemory(0, region.rkey(), 64),
                        pair.a().memory.slice(0, 64));
        pair.a().refused(1, WcStatus.REM_ACCESS_ERR);
    }
}
