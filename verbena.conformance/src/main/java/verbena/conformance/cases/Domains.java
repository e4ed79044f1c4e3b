package verbena.conformance.cases;

import java.util.ArrayList;
import java.util.List;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.conformance.fixture.Wiring;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcStatus;

/// Protection domains: which objects may be used together.
public final class Domains {
    private Domains() {}

    public static void manyDomainsCanBeHad(Fixture fixture) {
        int many = Math.min(200, fixture.attributes().memory().maxPd() / 2);
        var domains = new ArrayList<ProtectionDomain>();
        for (int i = 0; i < many; i++) {
            domains.add(fixture.own(fixture.a().allocateProtectionDomain()));
        }
        for (ProtectionDomain each : domains) {
            Expect.that("each is of the context", each.context() == fixture.a());
            each.close();
            Expect.that("each is closed", each.isClosed());
        }
    }

    private static void staysOpenFor(ProtectionDomain domain, AutoCloseable child) throws Exception {
        var refused = Expect.thrown("closing the domain", InUseException.class, domain::close);
        Expect.equal("objects that it names", 1, refused.children().size());
        Expect.that("it is open", !domain.isClosed());
        child.close();
        domain.close();
        Expect.that("it is closed", domain.isClosed());
    }

    public static void aDomainStaysOpenForItsRegion(Fixture fixture) throws Exception {
        var domain = fixture.own(fixture.a().allocateProtectionDomain());
        staysOpenFor(domain, fixture.own(domain.allocate(64, Access.local())));
    }

    public static void aDomainStaysOpenForItsQueuePair(Fixture fixture) throws Exception {
        var domain = fixture.own(fixture.a().allocateProtectionDomain());
        var cq = fixture.own(fixture.a().createCompletionQueue(16));
        var options = QueuePairOptions.rc(cq).withSizes(fixture.wire(QpType.RC).sizes());
        staysOpenFor(domain, fixture.own(domain.createQueuePair(options)));
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aDomainStaysOpenForItsWindow(Fixture fixture) throws Exception {
        var domain = fixture.own(fixture.a().allocateProtectionDomain());
        staysOpenFor(domain, fixture.own(domain.allocateWindow(MemoryWindow.Type.TYPE_1)));
    }

    @Needs(Capability.SRQ)
    public static void aDomainStaysOpenForItsSharedReceiveQueue(Fixture fixture) throws Exception {
        var domain = fixture.own(fixture.a().allocateProtectionDomain());
        staysOpenFor(domain, fixture.own(domain.createSharedReceiveQueue(4, 1)));
    }

    @Needs(Capability.UD)
    public static void aDomainStaysOpenForItsAddressHandle(Fixture fixture) throws Exception {
        var domain = fixture.own(fixture.a().allocateProtectionDomain());
        var to = fixture.a().gids(1).getFirst();
        var vector = AddressVector.to(to.gid(), to.index())
                .withDestinationLid(fixture.a().port(1).lids().lid());
        staysOpenFor(domain, fixture.own(domain.createAddressHandle(vector)));
    }

    public static void nothingIsMadeInAClosedDomain(Fixture fixture) {
        var domain = fixture.a().allocateProtectionDomain();
        var cq = fixture.own(fixture.a().createCompletionQueue(16));
        domain.close();
        domain.close(); // says nothing the second time
        var options = QueuePairOptions.rc(cq).withSizes(fixture.wire(QpType.RC).sizes());
        Expect.thrown("a region", InvalidStateException.class, () -> domain.allocate(8, Access.local()), "closed");
        Expect.thrown("a queue pair", InvalidStateException.class, () -> domain.createQueuePair(options), "closed");
        if (fixture.has(Capability.SRQ)) {
            Expect.thrown(
                    "a queue", InvalidStateException.class, () -> domain.createSharedReceiveQueue(1, 1), "closed");
        }
    }

    /// Returns a region of another domain of the same context.
    private static MemoryRegion elsewhere(TestEnd end) {
        ProtectionDomain other = end.fixture.own(end.context.allocateProtectionDomain());
        return end.fixture.own(other.allocate(4096, Access.remoteAll()));
    }

    public static void aRegionOfAnotherDomainIsRefusedWhenItIsPosted(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion other = elsewhere(pair.a());
        Expect.thrown(
                "a SEND from it",
                IllegalArgumentException.class,
                () -> pair.a().qp().postSend(1, other.slice(0, 8)),
                "region");
        Expect.thrown(
                "a receive into it",
                IllegalArgumentException.class,
                () -> pair.a().qp().postReceive(1, other.slice(0, 8)),
                "region");
    }

    public static void aLocalKeyOfAnotherDomainEndsASend(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion other = elsewhere(pair.a());
        pair.b().receive(9, 0, 8);
        pair.a()
                .post(
                        "SEND by the key",
                        batch -> batch.send(1)
                                .sge(other.lkey(), other.address(), 8)
                                .signaled());
        pair.a().fails(1, WcStatus.LOC_PROT_ERR);
    }

    public static void aLocalKeyOfAnotherDomainEndsARead(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion other = elsewhere(pair.a());
        pair.a()
                .post(
                        "READ by the key",
                        batch -> batch.read(1, pair.b().at(0), pair.b().rkey())
                                .sge(other.lkey(), other.address(), 8)
                                .signaled());
        pair.a().fails(1, WcStatus.LOC_PROT_ERR);
    }

    public static void aLocalKeyOfAnotherDomainEndsAReceive(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion other = elsewhere(pair.b());
        pair.b().receive("receive by the key", batch -> batch.receive(9).sge(other.lkey(), other.address(), 100));
        pair.a().send(1, 0, 8);
        pair.b().fails(9, WcStatus.LOC_PROT_ERR);
        pair.a().refused(1, WcStatus.REM_OP_ERR);
        Expect.bytes("memory of the other domain", new byte[100], TestEnd.bytes(other, 0, 100));
    }

    public static void aRemoteKeyOfAnotherDomainIsRefusedToAWrite(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion other = elsewhere(pair.b());
        pair.a().qp().postWrite(1, pair.a().memory.slice(0, 8), new RemoteMemory(other.address(), other.rkey(), 8));
        pair.a().refused(1, WcStatus.REM_ACCESS_ERR);
        Expect.bytes("memory of the other domain", new byte[8], TestEnd.bytes(other, 0, 8));
    }

    public static void aRemoteKeyOfAnotherDomainIsRefusedToARead(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion other = elsewhere(pair.b());
        pair.a()
                .qp()
                .postRead(
                        1,
                        new RemoteMemory(other.address(), other.rkey(), 8),
                        pair.a().memory.slice(0, 8));
        pair.a().fails(1, WcStatus.REM_ACCESS_ERR);
    }

    @Needs(Capability.ATOMICS)
    public static void aRemoteKeyOfAnotherDomainIsRefusedToAnAtomic(Fixture fixture) throws InterruptedException {
        for (boolean swap : List.of(false, true)) {
            Pair pair = fixture.rc();
            MemoryRegion other = elsewhere(pair.b());
            if (swap) {
                pair.a()
                        .qp()
                        .postCompareSwap(
                                1,
                                new RemoteMemory(other.address(), other.rkey(), Long.BYTES),
                                0,
                                5,
                                pair.a().memory.slice(0, 8));
            } else {
                pair.a()
                        .qp()
                        .postFetchAdd(
                                1,
                                new RemoteMemory(other.address(), other.rkey(), Long.BYTES),
                                5,
                                pair.a().memory.slice(0, 8));
            }
            pair.a().fails(1, WcStatus.REM_ACCESS_ERR);
            Expect.bytes("memory of the other domain", new byte[8], TestEnd.bytes(other, 0, 8));
        }
    }

    @Needs(Capability.UD)
    public static void anAddressHandleOfAnotherDomainIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.UD).connect();
        var other = fixture.own(pair.a().context.allocateProtectionDomain());
        var to = pair.a().context.gids(1).getFirst();
        var vector = AddressVector.to(to.gid(), to.index())
                .withDestinationLid(pair.a().context.port(1).lids().lid());
        var handle = fixture.own(other.createAddressHandle(vector));
        Expect.thrown(
                "posting with it",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "datagram",
                                batch ->
                                        batch.send(1).sge(pair.a().memory, 0, 8).to(handle, 2, Wiring.QKEY)),
                "handle");
    }

    public static void aCompletionQueueOfAnotherContextIsRefused(Fixture fixture) {
        var elsewhere = fixture.b();
        if (elsewhere.equals(fixture.a())) {
            return; // a device that opens once has no other context
        }
        var cq = fixture.own(elsewhere.createCompletionQueue(16));
        var domain = fixture.own(fixture.a().allocateProtectionDomain());
        var options = QueuePairOptions.rc(cq).withSizes(fixture.wire(QpType.RC).sizes());
        Expect.thrown("a queue pair with it", IllegalArgumentException.class, () -> domain.createQueuePair(options));
    }
}
