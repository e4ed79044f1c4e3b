package verbena.conformance.cases;

import verbena.conformance.rig.Expect;
import verbena.conformance.rig.Needs;
import verbena.conformance.rig.Pair;
import verbena.conformance.rig.Rig;
import verbena.conformance.rig.Side;
import verbena.conformance.rig.Wiring;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpType;

/// Multicast groups (IBTA 10.5, ibv_attach_mcast(3)). To see that something was not received, something else is
/// that came behind it.
@Needs({Capability.UD, Capability.MULTICAST})
public final class Multicasts {
    private static final int QPN = 0xFF_FFFF;
    private static final int GRH = Datagrams.GRH;

    private Multicasts() {}

    /// A group of the family that the device's connections use.
    private static Gid group(Rig rig, int number) {
        boolean isIpv4 = rig.a().gid(1, Side.gidIndex(rig.a())).gid().isIpv4();
        return Gid.parse(isIpv4 ? "239.77.13." + number : "ff0e::77:13:" + number);
    }

    /// `b` is of the device that `a` is of: a multicast does not leave loopback addresses.
    private static Pair pair(Rig rig) throws InterruptedException {
        return rig.wire(QpType.UD).between(rig.side(rig.a()), rig.side(rig.a()));
    }

    private static void send(Side from, Gid group, int length) throws InterruptedException {
        var to = from.rig.own(from.domain.createAddressHandle(AddressVector.to(group, Side.gidIndex(from.context))));
        from.post(
                "a datagram of " + length + " bytes to " + group,
                batch -> batch.send(7)
                        .sge(from.memory, 0, length)
                        .to(to, QPN, Wiring.QKEY)
                        .signaled());
        from.ok(7);
    }

    public static void whoIsAttachedHears(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        pair.b().qp().attachMulticast(group(rig, 1));
        pair.b().receive(1, 0, 200);
        send(pair.a(), group(rig, 1), 50);
        var received = pair.b().received(1, GRH + 50);
        Expect.equal("sender", pair.a().qp().qpn(), received.sourceQpn());
        Expect.bytes("datagram", pair.a().bytes(0, 50), pair.b().bytes(GRH, 50));
    }

    public static void everyoneWhoIsAttachedHears(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        Pair other = rig.wire(QpType.UD).between(rig.side(rig.a()), rig.side(rig.a()));
        for (Side side : new Side[] {pair.b(), other.a(), other.b()}) {
            side.qp().attachMulticast(group(rig, 2));
            side.receive(1, 0, 200);
        }
        send(pair.a(), group(rig, 2), 60);
        for (Side side : new Side[] {pair.b(), other.a(), other.b()}) {
            side.received(1, GRH + 60);
            Expect.bytes("datagram", pair.a().bytes(0, 60), side.bytes(GRH, 60));
        }
    }

    public static void whoHasLeftHearsNothing(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        pair.b().qp().attachMulticast(group(rig, 3));
        pair.b().qp().attachMulticast(group(rig, 4));
        pair.b().receive(1, 0, 200);
        pair.b().qp().detachMulticast(group(rig, 3));
        send(pair.a(), group(rig, 3), 50);
        send(pair.a(), group(rig, 4), 51);
        pair.b().received(1, GRH + 51);
    }

    public static void attachingTwiceHearsOnce(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        pair.b().qp().attachMulticast(group(rig, 5));
        pair.b().qp().attachMulticast(group(rig, 5));
        pair.b().receive(1, 0, 200);
        pair.b().receive(2, 0, 200);
        send(pair.a(), group(rig, 5), 50);
        send(pair.a(), group(rig, 5), 51);
        pair.b().received(1, GRH + 50);
        pair.b().received(2, GRH + 51);
    }

    public static void leavingWhatWasNotJoinedIsRefused(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        Expect.thrown("detach", InvalidStateException.class, () -> pair.b().qp().detachMulticast(group(rig, 6)));
    }

    public static void anAddressThatIsNoGroupIsRefused(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        Expect.thrown(
                "attach", IllegalArgumentException.class, () -> pair.b().qp().attachMulticast(Gid.parse("10.0.0.1")));
        Expect.thrown(
                "attach", IllegalArgumentException.class, () -> pair.b().qp().attachMulticast(Gid.parse("fe80::1")));
    }

    public static void onlyDatagramsAreMulticast(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
        Expect.thrown("attach", InvalidStateException.class, () -> pair.b().qp().attachMulticast(group(rig, 7)), "UD");
    }

    public static void whoSendsHearsItselfWhenItIsAttached(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        Side a = pair.a();
        a.qp().attachMulticast(group(rig, 8));
        a.receive(1, Side.MEMORY_BYTES / 2, 200);
        var to = rig.own(a.domain.createAddressHandle(AddressVector.to(group(rig, 8), Side.gidIndex(a.context))));
        a.post(
                "a datagram to the own group",
                batch -> batch.send(2)
                        .sge(a.memory, 0, 50)
                        .to(to, QPN, Wiring.QKEY)
                        .signaled());
        var done = new java.util.HashSet<Long>();
        done.add(a.take().wrId());
        done.add(a.take().wrId());
        Expect.equal("completed", java.util.Set.of(1L, 2L), done);
    }

    public static void anotherQkeyIsDropped(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        pair.b().qp().attachMulticast(group(rig, 9));
        pair.b().receive(1, 0, 200);
        pair.b().qp().modify(new verbena.verbs.QpModification().qkey(5));
        send(pair.a(), group(rig, 9), 50);
        pair.b().qp().modify(new verbena.verbs.QpModification().qkey(Wiring.QKEY));
        // What came before it may still be on its way: so this one is waited for, whatever came of that.
        send(pair.a(), group(rig, 9), 51);
        var first = pair.b().take();
        Expect.equal("receive", 1L, first.wrId());
    }

    public static void closingLeavesEveryGroup(Rig rig) throws InterruptedException {
        Pair pair = pair(rig);
        for (int i = 10; i < 14; i++) {
            pair.b().qp().attachMulticast(group(rig, i));
        }
        pair.b().close();
        send(pair.a(), group(rig, 10), 50);
        Pair later = rig.wire(QpType.UD).between(pair.a(), pair.b());
        later.b().qp().attachMulticast(group(rig, 10));
        later.b().receive(1, 0, 200);
        send(later.a(), group(rig, 10), 51);
        Expect.equal("receive", 1L, later.b().take().wrId());
    }
}
