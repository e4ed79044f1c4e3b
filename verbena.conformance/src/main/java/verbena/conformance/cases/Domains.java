package verbena.conformance.cases;

import java.util.ArrayList;
import java.util.List;
import verbena.conformance.rig.Expect;
import verbena.conformance.rig.Needs;
import verbena.conformance.rig.Pair;
import verbena.conformance.rig.Rig;
import verbena.conformance.rig.Side;
import verbena.conformance.rig.Wiring;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcStatus;

/// Protection domains: which objects may be used together.
public final class Domains {
    private Domains() {}

    public static void manyDomainsCanBeHad(Rig rig) {
        int many = Math.min(200, rig.attributes().maxPd() / 2);
        var domains = new ArrayList<ProtectionDomain>();
        for (int i = 0; i < many; i++) {
            domains.add(rig.own(rig.a().allocateProtectionDomain()));
        }
        for (ProtectionDomain each : domains) {
            Expect.that("each is of the context", each.context() == rig.a());
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

    public static void aDomainStaysOpenForItsRegion(Rig rig) throws Exception {
        var domain = rig.own(rig.a().allocateProtectionDomain());
        staysOpenFor(domain, rig.own(domain.allocate(64, Access.local())));
    }

    public static void aDomainStaysOpenForItsQueuePair(Rig rig) throws Exception {
        var domain = rig.own(rig.a().allocateProtectionDomain());
        var cq = rig.own(rig.a().createCompletionQueue(16));
        var options = QueuePairOptions.rc(cq).withSizes(rig.wire(QpType.RC).sizes());
        staysOpenFor(domain, rig.own(domain.createQueuePair(options)));
    }

    @Needs(Capability.MEMORY_WINDOW_TYPE_1)
    public static void aDomainStaysOpenForItsWindow(Rig rig) throws Exception {
        var domain = rig.own(rig.a().allocateProtectionDomain());
        staysOpenFor(domain, rig.own(domain.allocateWindow(1)));
    }

    @Needs(Capability.SRQ)
    public static void aDomainStaysOpenForItsSharedReceiveQueue(Rig rig) throws Exception {
        var domain = rig.own(rig.a().allocateProtectionDomain());
        staysOpenFor(domain, rig.own(domain.createSharedReceiveQueue(4, 1)));
    }

    @Needs(Capability.UD)
    public static void aDomainStaysOpenForItsAddressHandle(Rig rig) throws Exception {
        var domain = rig.own(rig.a().allocateProtectionDomain());
        var to = rig.a().gids(1).getFirst();
        staysOpenFor(domain, rig.own(domain.createAddressHandle(AddressVector.to(to.gid(), to.index()))));
    }

    public static void nothingIsMadeInAClosedDomain(Rig rig) {
        var domain = rig.a().allocateProtectionDomain();
        var cq = rig.own(rig.a().createCompletionQueue(16));
        domain.close();
        domain.close(); // says nothing the second time
        var options = QueuePairOptions.rc(cq).withSizes(rig.wire(QpType.RC).sizes());
        Expect.thrown("a region", InvalidStateException.class, () -> domain.allocate(8, Access.local()), "closed");
        Expect.thrown("a queue pair", InvalidStateException.class, () -> domain.createQueuePair(options), "closed");
        if (rig.has(Capability.SRQ)) {
            Expect.thrown(
                    "a queue", InvalidStateException.class, () -> domain.createSharedReceiveQueue(1, 1), "closed");
        }
    }

    /// A region of another domain of the same context.
    private static MemoryRegion elsewhere(Side side) {
        ProtectionDomain other = side.rig.own(side.context.allocateProtectionDomain());
        return side.rig.own(other.allocate(4096, Access.remoteAll()));
    }

    public static void aRegionOfAnotherDomainIsRefusedWhenItIsPosted(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
        MemoryRegion other = elsewhere(pair.a());
        Expect.thrown(
                "a SEND from it",
                IllegalArgumentException.class,
                () -> pair.a().qp().postSend(1, other, 0, 8),
                "region");
        Expect.thrown(
                "a receive into it",
                IllegalArgumentException.class,
                () -> pair.a().qp().postReceive(1, other, 0, 8),
                "region");
    }

    public static void aLocalKeyOfAnotherDomainEndsASend(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
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

    public static void aLocalKeyOfAnotherDomainEndsARead(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
        MemoryRegion other = elsewhere(pair.a());
        pair.a()
                .post(
                        "READ by the key",
                        batch -> batch.read(1, pair.b().at(0), pair.b().rkey())
                                .sge(other.lkey(), other.address(), 8)
                                .signaled());
        pair.a().fails(1, WcStatus.LOC_PROT_ERR);
    }

    public static void aLocalKeyOfAnotherDomainEndsAReceive(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
        MemoryRegion other = elsewhere(pair.b());
        pair.b().receive("receive by the key", batch -> batch.receive(9).sge(other.lkey(), other.address(), 100));
        pair.a().send(1, 0, 8);
        pair.b().fails(9, WcStatus.LOC_PROT_ERR);
        pair.a().refused(1, WcStatus.REM_OP_ERR);
        Expect.bytes("memory of the other domain", new byte[100], Side.bytes(other, 0, 100));
    }

    public static void aRemoteKeyOfAnotherDomainIsRefusedToAWrite(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
        MemoryRegion other = elsewhere(pair.b());
        pair.a().qp().postWrite(1, pair.a().memory, 0, 8, other.address(), other.rkey());
        pair.a().refused(1, WcStatus.REM_ACCESS_ERR);
        Expect.bytes("memory of the other domain", new byte[8], Side.bytes(other, 0, 8));
    }

    public static void aRemoteKeyOfAnotherDomainIsRefusedToARead(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
        MemoryRegion other = elsewhere(pair.b());
        pair.a().qp().postRead(1, pair.a().memory, 0, 8, other.address(), other.rkey());
        pair.a().fails(1, WcStatus.REM_ACCESS_ERR);
    }

    @Needs(Capability.ATOMICS)
    public static void aRemoteKeyOfAnotherDomainIsRefusedToAnAtomic(Rig rig) throws InterruptedException {
        for (boolean swap : List.of(false, true)) {
            Pair pair = rig.rc();
            MemoryRegion other = elsewhere(pair.b());
            if (swap) {
                pair.a().qp().postCompareSwap(1, pair.a().memory, 0, other.address(), other.rkey(), 0, 5);
            } else {
                pair.a().qp().postFetchAdd(1, pair.a().memory, 0, other.address(), other.rkey(), 5);
            }
            pair.a().fails(1, WcStatus.REM_ACCESS_ERR);
            Expect.bytes("memory of the other domain", new byte[8], Side.bytes(other, 0, 8));
        }
    }

    @Needs(Capability.UD)
    public static void anAddressHandleOfAnotherDomainIsRefused(Rig rig) throws InterruptedException {
        Pair pair = rig.wire(QpType.UD).connect();
        var other = rig.own(pair.a().context.allocateProtectionDomain());
        var to = pair.a().context.gids(1).getFirst();
        var handle = rig.own(other.createAddressHandle(AddressVector.to(to.gid(), to.index())));
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

    public static void aCompletionQueueOfAnotherContextIsRefused(Rig rig) {
        var elsewhere = rig.own(rig.device().open());
        var cq = rig.own(elsewhere.createCompletionQueue(16));
        var domain = rig.own(rig.a().allocateProtectionDomain());
        var options = QueuePairOptions.rc(cq).withSizes(rig.wire(QpType.RC).sizes());
        Expect.thrown("a queue pair with it", IllegalArgumentException.class, () -> domain.createQueuePair(options));
    }
}
