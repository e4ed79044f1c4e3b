package verbena.conformance.cases;

import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.conformance.fixture.Wiring;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpType;

/// Multicast groups (IBTA 10.5, ibv_attach_mcast(3)). To see that something was not received, something else is
/// that came behind it.
@Needs({Capability.UD, Capability.MULTICAST})
public final class Multicasts {
    private static final int GRH = Datagrams.GRH;

    private Multicasts() {}

    /// Returns a group of the family that the device's connections use.
    private static Gid group(Fixture fixture, int number) {
        boolean isIpv4 = fixture.a().gid(1, TestEnd.gidIndex(fixture.a())).gid().isIpv4();
        return Gid.parse(isIpv4 ? "239.77.13." + number : "ff0e::77:13:" + number);
    }

    /// Returns two ends on one device: a multicast does not leave loopback addresses.
    private static Pair pair(Fixture fixture) throws InterruptedException {
        return fixture.wire(QpType.UD).between(fixture.end(fixture.a()), fixture.end(fixture.a()));
    }

    private static void send(TestEnd from, Gid group, int length) throws InterruptedException {
        var to = from.fixture.own(
                from.domain.createAddressHandle(AddressVector.to(group, TestEnd.gidIndex(from.context))));
        from.post(
                "a datagram of " + length + " bytes to " + group,
                batch -> batch.send(7)
                        .sge(from.memory, 0, length)
                        .to(to, Endpoint.MULTICAST_QPN, Wiring.QKEY)
                        .signaled());
        from.ok(7);
    }

    public static void whoIsAttachedHears(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().qp().attachMulticast(group(fixture, 1));
        pair.b().receive(1, 0, 200);
        send(pair.a(), group(fixture, 1), 50);
        var received = pair.b().received(1, GRH + 50);
        Expect.equal("sender", pair.a().qp().qpn(), received.sourceQpn());
        Expect.bytes("datagram", pair.a().bytes(0, 50), pair.b().bytes(GRH, 50));
    }

    public static void everyoneWhoIsAttachedHears(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        Pair other = fixture.wire(QpType.UD).between(fixture.end(fixture.a()), fixture.end(fixture.a()));
        for (TestEnd end : new TestEnd[] {pair.b(), other.a(), other.b()}) {
            end.qp().attachMulticast(group(fixture, 2));
            end.receive(1, 0, 200);
        }
        send(pair.a(), group(fixture, 2), 60);
        for (TestEnd end : new TestEnd[] {pair.b(), other.a(), other.b()}) {
            end.received(1, GRH + 60);
            Expect.bytes("datagram", pair.a().bytes(0, 60), end.bytes(GRH, 60));
        }
    }

    public static void whoHasLeftHearsNothing(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().qp().attachMulticast(group(fixture, 3));
        pair.b().qp().attachMulticast(group(fixture, 4));
        pair.b().receive(1, 0, 200);
        pair.b().qp().detachMulticast(group(fixture, 3));
        send(pair.a(), group(fixture, 3), 50);
        send(pair.a(), group(fixture, 4), 51);
        pair.b().received(1, GRH + 51);
    }

    public static void attachingTwiceHearsOnce(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().qp().attachMulticast(group(fixture, 5));
        pair.b().qp().attachMulticast(group(fixture, 5));
        pair.b().receive(1, 0, 200);
        pair.b().receive(2, 0, 200);
        send(pair.a(), group(fixture, 5), 50);
        send(pair.a(), group(fixture, 5), 51);
        pair.b().received(1, GRH + 50);
        pair.b().received(2, GRH + 51);
    }

    public static void leavingWhatWasNotJoinedIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        Expect.thrown("detach", InvalidStateException.class, () -> pair.b().qp().detachMulticast(group(fixture, 6)));
    }

    public static void anAddressThatIsNoGroupIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        Expect.thrown(
                "attach", IllegalArgumentException.class, () -> pair.b().qp().attachMulticast(Gid.parse("10.0.0.1")));
        Expect.thrown(
                "attach", IllegalArgumentException.class, () -> pair.b().qp().attachMulticast(Gid.parse("fe80::1")));
    }

    public static void onlyDatagramsAreMulticast(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        Expect.thrown(
                "attach", InvalidStateException.class, () -> pair.b().qp().attachMulticast(group(fixture, 7)), "UD");
    }

    public static void whoSendsHearsItselfWhenItIsAttached(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        TestEnd a = pair.a();
        a.qp().attachMulticast(group(fixture, 8));
        a.receive(1, TestEnd.MEMORY_BYTES / 2, 200);
        var to = fixture.own(
                a.domain.createAddressHandle(AddressVector.to(group(fixture, 8), TestEnd.gidIndex(a.context))));
        a.post(
                "a datagram to the own group",
                batch -> batch.send(2)
                        .sge(a.memory, 0, 50)
                        .to(to, Endpoint.MULTICAST_QPN, Wiring.QKEY)
                        .signaled());
        var done = new java.util.HashSet<Long>();
        done.add(a.take().wrId());
        done.add(a.take().wrId());
        Expect.equal("completed", java.util.Set.of(1L, 2L), done);
    }

    public static void anotherQkeyIsDropped(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().qp().attachMulticast(group(fixture, 9));
        pair.b().receive(1, 0, 200);
        pair.b().qp().modify(new verbena.verbs.QpModification().withQkey(5));
        send(pair.a(), group(fixture, 9), 50);
        pair.b().qp().modify(new verbena.verbs.QpModification().withQkey(Wiring.QKEY));
        // What came before it may still be on its way: so this one is waited for, whatever came of that.
        send(pair.a(), group(fixture, 9), 51);
        var first = pair.b().take();
        Expect.equal("receive", 1L, first.wrId());
    }

    public static void closingLeavesEveryGroup(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        for (int i = 10; i < 14; i++) {
            pair.b().qp().attachMulticast(group(fixture, i));
        }
        pair.b().close();
        send(pair.a(), group(fixture, 10), 50);
        Pair later = fixture.wire(QpType.UD).between(pair.a(), pair.b());
        later.b().qp().attachMulticast(group(fixture, 10));
        later.b().receive(1, 0, 200);
        send(later.a(), group(fixture, 10), 51);
        Expect.equal("receive", 1L, later.b().take().wrId());
    }
}
