package verbena.conformance.cases;

import java.util.EnumSet;
import java.util.Set;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.RnrTimer;
import verbena.verbs.Transition;

/// The send queue drained (SQD), and the event of the first message (IBTA 10.3.1.5).
@Needs({Capability.RC, Capability.ENDPOINTS})
public final class Draining {
    private Draining() {}

    @Needs(Capability.SQ_DRAIN)
    public static void whatHasStartedFinishes(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().write(1, 0, 8, pair.b(), 0);
        pair.a().qp().modify(new Transition.ToSqd(true));
        Expect.equal("state", QpState.SQD, pair.a().qp().state());
        pair.a().ok(1);
        var event = fixture.event(fixture.a(), EnumSet.of(AsyncEvent.Type.SQ_DRAINED));
        Expect.that(
                "its queue pair",
                event instanceof AsyncEvent.QueuePairEvent(var type, var qp)
                        && qp == pair.a().qp());
    }

    @Needs(Capability.SQ_DRAIN)
    public static void nothingNewStartsBeforeItGoesOn(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().qp().modify(new Transition.ToSqd(true));
        fixture.event(fixture.a(), EnumSet.of(AsyncEvent.Type.SQ_DRAINED));
        pair.a().write(1, 0, 8, pair.b(), 0);
        byte[] before = pair.b().bytes(0, 8);
        pair.b().write(2, 500, 8, pair.a(), 600); // the other direction goes on
        pair.b().ok(2);
        pair.a().silent();
        Expect.bytes("memory of b", before, pair.b().bytes(0, 8));
        pair.a().qp().modify(new Transition.Resume());
        pair.a().ok(1);
        pair.a().read(3, 64, 8, pair.b(), 0); // behind it, so that b sees it
        pair.a().ok(3);
        Expect.bytes("what was written", pair.a().bytes(0, 8), pair.b().bytes(0, 8));
    }

    @Needs(Capability.SQ_DRAIN)
    public static void attributesCanBeChangedMeanwhile(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().qp().modify(new Transition.ToSqd(true));
        fixture.event(fixture.a(), EnumSet.of(AsyncEvent.Type.SQ_DRAINED));
        pair.a()
                .qp()
                .modify(new QpModification()
                        .withState(QpState.SQD)
                        .withAccess(Set.of(Access.REMOTE_READ))
                        .withRetryCount(3)
                        .withMinRnrTimer(new RnrTimer(5)));
        var its = pair.a().qp().query();
        Expect.equal("retries", 3, its.sending().retryCount());
        Expect.equal("minimum RNR timer", 5, its.receiving().minRnrTimer().code());
        pair.a().qp().modify(new Transition.Resume());
        Expect.equal("state", QpState.RTS, pair.a().qp().state());
        pair.a().write(1, 0, 8, pair.b(), 0);
        pair.a().ok(1);
    }

    @Needs(Capability.SQ_DRAIN)
    public static void withoutAskingThereIsNoEvent(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().qp().modify(new Transition.ToSqd(false));
        pair.a().qp().modify(new Transition.Resume());
        pair.a().qp().modify(new Transition.ToSqd(true));
        fixture.event(fixture.a(), EnumSet.of(AsyncEvent.Type.SQ_DRAINED));
        Expect.that("no second event", fixture.a().pollAsyncEvent().isEmpty());
    }

    public static void theFirstMessageBeforeRtsIsToldByAnEvent(Fixture fixture) throws InterruptedException {
        var a = fixture.end(fixture.a());
        var b = fixture.end(fixture.b());
        var wiring = fixture.wire(QpType.RC);
        a.use(a.domain.createQueuePair(wiring.options(a)));
        b.use(b.domain.createQueuePair(wiring.options(b)));
        int indexOfA = verbena.conformance.fixture.TestEnd.gidIndex(a.context);
        int indexOfB = verbena.conformance.fixture.TestEnd.gidIndex(b.context);
        var ofA = a.qp().endpoint(indexOfA);
        b.qp().modify(new Transition.ToInit(Access.remoteAll()));
        b.qp().modify(new Transition.ToRtr(
                verbena.verbs.AddressVector.to(ofA.gid(), indexOfB).withDestinationLid(ofA.lid()),
                ofA.mtu().min(b.qp().endpoint(indexOfB).mtu()),
                ofA.qpn(),
                ofA.psn(),
                1,
                new RnrTimer(12)));
        a.qp().connect(b.qp().endpoint(indexOfB), wiring.connectOptions(Access.remoteAll()));
        b.receive(1, 0, 100);
        a.send(2, 0, 10);
        a.ok(2); // answered in RTR
        b.received(1, 10);
        fixture.event(b.context, EnumSet.of(AsyncEvent.Type.COMM_EST));
    }

    public static void withoutNewsThereIsNoEvent(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().write(1, 0, 8, pair.b(), 0);
        pair.a().ok(1);
        Expect.that("poll", fixture.a().pollAsyncEvent().isEmpty());
        Expect.that(
                "a wait of no time",
                fixture.a().awaitAsyncEvent(java.time.Duration.ZERO).isEmpty());
        Expect.that(
                "a short wait",
                fixture.a().awaitAsyncEvent(java.time.Duration.ofMillis(5)).isEmpty());
    }
}
