package verbena.conformance.cases;

import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.conformance.fixture.Wiring;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Datagrams go where an address handle says, behind 40 bytes that tell where from (IBTA 9.8.3, 11.4.1.2).
@Needs(Capability.UD)
public final class Datagrams {
    static final int GRH = 40;
    private static final int HALF = TestEnd.MEMORY_BYTES / 2;

    private Datagrams() {}

    private static Pair pair(Fixture fixture) throws InterruptedException {
        return fixture.wire(QpType.UD).connect();
    }

    /// Returns an address handle from one side to another.
    static AddressHandle way(TestEnd from, TestEnd to) {
        var gid = to.context.gid(1, TestEnd.gidIndex(to.context)).gid();
        var vector = AddressVector.to(gid, TestEnd.gidIndex(from.context))
                .withDestinationLid(to.context.port(1).lids().lid());
        return from.fixture.own(from.domain.createAddressHandle(vector));
    }

    /// Posts a signalled datagram from `a` to `b`.
    static void send(Pair pair, long wrId, long offset, int length) {
        send(pair, wrId, offset, length, Wiring.QKEY);
    }

    private static void send(Pair pair, long wrId, long offset, int length, int qkey) {
        AddressHandle to = way(pair.a(), pair.b());
        pair.a()
                .post(
                        "a datagram wr " + wrId + " of " + length + " bytes",
                        batch -> batch.send(wrId)
                                .sge(pair.a().memory, offset, length)
                                .to(to, pair.b().qp().qpn(), qkey)
                                .signaled());
    }

    /// Sends a datagram that is received, so that each before it has arrived or was dropped.
    private static void follows(Pair pair) throws InterruptedException {
        pair.b().receive(900, HALF, 200);
        send(pair, 901, 1, 33);
        pair.a().ok(901);
        pair.b().received(900, GRH + 33);
        Expect.bytes(
                "the datagram that follows", pair.a().bytes(1, 33), pair.b().bytes(HALF + GRH, 33));
    }

    public static void aDatagramArrivesBehindFortyBytes(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        int most = fixture.a().port(1).activeMtu().bytes();
        for (int size : new int[] {0, 1, 2, 3, 4, 100, most - 1, most}) {
            pair.b().receive(1, HALF, GRH + size);
            send(pair, 2, 7, size);
            pair.a().ok(2, WcOpcode.SEND);
            var received = pair.b().received(1, GRH + size);
            Expect.bytes(size + " bytes", pair.a().bytes(7, size), pair.b().bytes(HALF + GRH, size));
            Expect.equal("sender", pair.a().qp().qpn(), received.sourceQpn());
            Expect.that("the first 40 bytes are the network header", received.hasGrh());
        }
    }

    @Needs(Capability.SEND_WITH_IMMEDIATE)
    public static void aDatagramBringsItsImmediate(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        AddressHandle to = way(pair.a(), pair.b());
        pair.b().receive(1, HALF, 200);
        pair.a()
                .post(
                        "a datagram with immediate",
                        batch -> batch.sendWithImmediate(2, 0x0102_0304)
                                .sge(pair.a().memory, 0, 100)
                                .to(to, pair.b().qp().qpn(), Wiring.QKEY)
                                .signaled());
        pair.a().ok(2);
        Expect.equal(
                "immediate", 0x0102_0304, pair.b().received(1, 140).immediate().orElseThrow());
    }

    public static void whoReceivesCanAnswer(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().receive(1, 0, 200);
        send(pair, 2, 0, 10);
        pair.a().ok(2);
        var wc = new WorkCompletion();
        Expect.that("it arrives", pair.b().cq.await(wc, fixture.timeout()));
        AddressHandle back = fixture.own(pair.b()
                .domain
                .createAddressHandle(wc, pair.b().memory.segment().asSlice(0, GRH)));
        Expect.equal(
                "its sender",
                fixture.a().gid(1, TestEnd.gidIndex(fixture.a())).gid(),
                back.vector().destination());
        pair.a().receive(3, HALF, 200);
        pair.b()
                .post(
                        "the answer",
                        batch -> batch.send(4)
                                .sge(pair.b().memory, 500, 20)
                                .to(back, wc.sourceQpn(), Wiring.QKEY)
                                .signaled());
        pair.b().ok(4);
        pair.a().received(3, GRH + 20);
        Expect.bytes("answer", pair.b().bytes(500, 20), pair.a().bytes(HALF + GRH, 20));
    }

    public static void anAnswerToNothingIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(1, 0, 200);
        pair.a().send(2, 0, 100);
        var wc = new WorkCompletion();
        Expect.that("it arrives", pair.b().cq.await(wc, fixture.timeout()));
        Expect.thrown(
                "a handle of a connection's message",
                IllegalArgumentException.class,
                () -> pair.b()
                        .domain
                        .createAddressHandle(wc, pair.b().memory.segment().asSlice(0, GRH)));
    }

    public static void anotherQkeyIsDropped(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().receive(1, 0, 200);
        send(pair, 2, 0, 10, Wiring.QKEY + 1);
        pair.a().ok(2);
        send(pair, 3, 0, 11);
        pair.a().ok(3);
        pair.b().received(1, GRH + 11);
    }

    /// Checks IBTA 10.2.5.
    public static void aQkeyWithItsHighBitStandsForTheOwn(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().receive(1, 0, 200);
        send(pair, 2, 0, 10, 0x8000_0000);
        pair.a().ok(2);
        pair.b().received(1, GRH + 10);
    }

    public static void theQkeyCanBeChangedWhileItRuns(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().qp().modify(new QpModification().withQkey(77));
        pair.b().receive(1, 0, 200);
        send(pair, 2, 0, 10);
        pair.a().ok(2);
        send(pair, 3, 0, 11, 77);
        pair.a().ok(3);
        pair.b().received(1, GRH + 11);
    }

    public static void withoutAReceiveItIsDropped(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        send(pair, 1, 0, 10);
        pair.a().ok(1);
        // Another queue pair of b receives behind it.
        Pair other = fixture.wire(QpType.UD).between(pair.a(), pair.b());
        other.b().receive(2, 0, 200);
        AddressHandle to = way(pair.a(), pair.b());
        pair.a()
                .post(
                        "a datagram to the other",
                        batch -> batch.send(3)
                                .sge(pair.a().memory, 0, 12)
                                .to(to, other.b().qp().qpn(), Wiring.QKEY)
                                .signaled());
        pair.a().ok(3);
        other.b().received(2, GRH + 12);
        pair.b().silent();
        follows(pair);
    }

    public static void oneLargerThanItsReceiveIsDropped(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().receive(1, 0, GRH + 9);
        send(pair, 2, 0, 10);
        pair.a().ok(2);
        send(pair, 3, 0, 9);
        pair.a().ok(3);
        pair.b().received(1, GRH + 9);
        Expect.equal("state of b", QpState.RTS, pair.b().qp().state());
    }

    public static void oneOfMoreThanThePortsMtuIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        int most = fixture.a().port(1).activeMtu().bytes();
        Expect.thrown("one byte more", IllegalArgumentException.class, () -> send(pair, 1, 0, most + 1), "MTU");
        follows(pair);
    }

    public static void aDestinationIsNeeded(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        Expect.thrown("nowhere", IllegalArgumentException.class, () -> pair.a().send(1, 0, 8), "to");
        AddressHandle to = way(pair.a(), pair.b());
        Expect.thrown(
                "a number of 25 bits",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "a datagram",
                                batch ->
                                        batch.send(1).sge(pair.a().memory, 0, 8).to(to, 0x100_0000, 1)),
                "qpn");
    }

    public static void onlySendsAreTaken(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        AddressHandle to = way(pair.a(), pair.b());
        Expect.thrown(
                "WRITE",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "WRITE",
                                batch -> batch.write(1, 0, 0)
                                        .sge(pair.a().memory, 0, 8)
                                        .to(to, 5, 5)),
                "WRITE");
        Expect.thrown(
                "READ",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "READ",
                                batch -> batch.read(1, 0, 0)
                                        .sge(pair.a().memory, 0, 8)
                                        .to(to, 5, 5)),
                "READ");
        follows(pair);
    }

    public static void aClosedHandleIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        AddressHandle to = way(pair.a(), pair.b());
        to.close();
        to.close();
        Expect.that("it is closed", to.isClosed());
        Expect.thrown(
                "a datagram by it",
                InvalidStateException.class,
                () -> pair.a()
                        .post(
                                "a datagram",
                                batch -> batch.send(1)
                                        .sge(pair.a().memory, 0, 8)
                                        .to(to, pair.b().qp().qpn(), Wiring.QKEY)),
                "closed");
    }

    public static void aHandleFromAnAddressThatIsNotOursIsRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        int free = fixture.a().gids(1).stream()
                        .mapToInt(entry -> entry.index())
                        .max()
                        .orElse(0)
                + 1;
        var gid = fixture.a().gids(1).getFirst().gid();
        Expect.thrown(
                "GID " + free,
                InvalidAttributesException.class,
                () -> end.domain.createAddressHandle(AddressVector.to(gid, free)));
    }

    public static void aHandleRemembersItsWay(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        var gid = fixture.b().gid(1, TestEnd.gidIndex(fixture.b())).gid();
        var vector = AddressVector.to(gid, TestEnd.gidIndex(fixture.a()))
                .withTrafficClass(0x20)
                .withDestinationLid(fixture.b().port(1).lids().lid());
        AddressHandle handle = fixture.own(pair.a().domain.createAddressHandle(vector));
        Expect.equal("way", vector, handle.vector());
        Expect.that("its domain", handle.protectionDomain() == pair.a().domain);
    }

    public static void oneQueuePairHearsManySenders(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        var seen = new java.util.HashSet<Integer>();
        for (int i = 0; i < 5; i++) {
            Pair sender = i == 0
                    ? pair
                    : new Pair(
                            fixture.wire(QpType.UD).between(pair.a(), pair.b()).a(), pair.b());
            pair.b().receive(i, 0, 200);
            send(sender, 10 + i, 0, 20);
            sender.a().ok(10 + i);
            seen.add(pair.b().received(i, GRH + 20).sourceQpn());
        }
        Expect.equal("senders", 5, seen.size());
    }

    public static void aQueuePairHearsItself(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        TestEnd a = pair.a();
        a.receive(1, HALF, 200);
        AddressHandle to = way(a, a);
        a.post(
                "a datagram to itself",
                batch -> batch.send(2)
                        .sge(a.memory, 0, 30)
                        .to(to, a.qp().qpn(), Wiring.QKEY)
                        .signaled());
        var done = new java.util.HashSet<Long>();
        done.add(a.take().wrId());
        done.add(a.take().wrId());
        Expect.equal("completed", java.util.Set.of(1L, 2L), done);
        Expect.bytes("datagram", a.bytes(0, 30), a.bytes(HALF + GRH, 30));
    }

    public static void aNumberThatNobodyHasIsNotMissed(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        AddressHandle to = way(pair.a(), pair.b());
        int nobody = pair.b().qp().qpn() ^ 0x5555;
        pair.a()
                .post(
                        "a datagram to no queue pair",
                        batch -> batch.send(1)
                                .sge(pair.a().memory, 0, 8)
                                .to(to, nobody, Wiring.QKEY)
                                .signaled());
        pair.a().ok(1);
        follows(pair);
    }

    public static void aConnectionsNumberTakesNoDatagrams(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        Pair connected = fixture.wire(QpType.RC).between(pair.a(), pair.b());
        connected.b().receive(5, 0, 200);
        AddressHandle to = way(pair.a(), pair.b());
        pair.a()
                .post(
                        "a datagram to a connection",
                        batch -> batch.send(1)
                                .sge(pair.a().memory, 0, 8)
                                .to(to, connected.b().qp().qpn(), Wiring.QKEY)
                                .signaled());
        pair.a().ok(1);
        follows(pair);
        connected.a().send(2, 0, 17);
        connected.a().ok(2);
        connected.b().received(5, 17);
    }

    public static void aLocalErrorStopsSendingAndNotReceiving(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        AddressHandle to = way(pair.a(), pair.b());
        pair.a()
                .post(
                        "a datagram by a wrong key",
                        batch -> batch.send(1)
                                .sge(pair.a().memory.lkey() ^ 0x5A5A, pair.a().at(0), 8)
                                .to(to, pair.b().qp().qpn(), Wiring.QKEY)
                                .signaled());
        pair.a().fails(1, WcStatus.LOC_PROT_ERR);
        Expect.equal("state of a", QpState.SQE, pair.a().qp().state());
        pair.a().qp().modify(new Transition.Resume());
        follows(pair);
    }

    public static void piecesAreGatheredAndScattered(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        AddressHandle to = way(pair.a(), pair.b());
        pair.b()
                .receive(
                        "a receive of two pieces",
                        batch -> batch.receive(1).sge(pair.b().memory, 0, GRH).sge(pair.b().memory, HALF, 500));
        pair.a()
                .post(
                        "a datagram of two pieces",
                        batch -> batch.send(2)
                                .sge(pair.a().memory, 0, 100)
                                .sge(pair.a().memory, 5000, 150)
                                .to(to, pair.b().qp().qpn(), Wiring.QKEY)
                                .signaled());
        pair.a().ok(2);
        pair.b().received(1, GRH + 250);
        Expect.bytes("first piece", pair.a().bytes(0, 100), pair.b().bytes(HALF, 100));
        Expect.bytes("second piece", pair.a().bytes(5000, 150), pair.b().bytes(HALF + 100, 150));
    }
}
