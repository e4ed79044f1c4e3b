package verbena.conformance.cases;

import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.verbs.AckTimeout;
import verbena.verbs.Capability;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.RnrTimer;
import verbena.verbs.WcStatus;

/// A peer that is not ready, or not there (IBTA 9.7.5.2.8, 9.7.6.1).
@Needs(Capability.RC)
public final class Retries {
    private static final AckTimeout SHORT = new AckTimeout(10);
    private static final RnrTimer QUICK = new RnrTimer(1);

    private Retries() {}

    public static void aMessageWaitsForItsReceive(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int round = 0; round < 3; round++) {
            pair.a().send(1, 0, 5000);
            pair.b().context.awaitAsyncEvent(java.time.Duration.ofMillis(20)); // time to be refused
            pair.b().receive(2, 0, 5000);
            pair.b().received(2, 5000);
            pair.a().ok(1);
            Expect.bytes("message", pair.a().bytes(0, 5000), pair.b().bytes(0, 5000));
        }
    }

    @Needs(Capability.IMMEDIATE_DATA)
    public static void aWriteWithImmediateWaitsForItsReceive(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a()
                .qp()
                .postWriteWithImmediate(
                        1, pair.a().memory.slice(0, 5000), pair.b().memory.remote(), 7);
        pair.b().context.awaitAsyncEvent(java.time.Duration.ofMillis(20));
        pair.b().receive(2, 0, 0);
        pair.b().ok(2);
        pair.a().ok(1);
        Expect.bytes("what was written", pair.a().bytes(0, 5000), pair.b().bytes(0, 5000));
    }

    @Needs(Capability.ENDPOINTS)
    public static void withoutRnrRetriesTheFirstRefusalIsTheLast(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC)
                .retries(new AckTimeout(14), 7, 0)
                .minRnrTimer(QUICK)
                .connect();
        pair.a().send(1, 0, 8);
        pair.a().send(2, 0, 8);
        pair.a().fails(1, WcStatus.RNR_RETRY_EXC_ERR);
        pair.a().flushed(2);
        pair.a().isBroken();
        Expect.equal("state of b", QpState.RTS, pair.b().qp().state());
    }

    @Needs(Capability.ENDPOINTS)
    public static void rnrRetriesComeToAnEnd(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC)
                .retries(new AckTimeout(14), 7, 3)
                .minRnrTimer(QUICK)
                .connect();
        pair.a().send(1, 0, 8);
        pair.a().fails(1, WcStatus.RNR_RETRY_EXC_ERR);
    }

    @Needs(Capability.ENDPOINTS)
    public static void writesAndReadsNeedNoReceive(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).retries(new AckTimeout(14), 7, 0).connect();
        pair.a().write(1, 0, 8, pair.b(), 0);
        pair.a().ok(1);
        pair.a().read(2, 0, 8, pair.b(), 0);
        pair.a().ok(2);
    }

    @Needs(Capability.ENDPOINTS)
    public static void aPeerThatIsClosedIsGivenUp(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).retries(SHORT, 1, 7).connect();
        pair.b().close();
        pair.a().write(1, 0, 8, pair.b(), 0);
        pair.a().send(2, 0, 8);
        pair.a().fails(1, WcStatus.RETRY_EXC_ERR);
        pair.a().flushed(2);
        pair.a().isBroken();
    }

    @Needs(Capability.ENDPOINTS)
    public static void aPeerInErrorIsGivenUp(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).retries(SHORT, 0, 7).connect();
        pair.b().qp().modify(new verbena.verbs.Transition.ToError());
        pair.a().read(1, 0, 8, pair.b(), 0);
        pair.a().fails(1, WcStatus.RETRY_EXC_ERR);
    }

    @Needs(Capability.ENDPOINTS)
    public static void aPeerThatIsNotYetReceivingIsWaitedFor(Fixture fixture) throws InterruptedException {
        var a = fixture.end(fixture.a());
        var b = fixture.end(fixture.b());
        var wiring = fixture.wire(QpType.RC).retries(new AckTimeout(14), 7, 7);
        a.use(a.domain.createQueuePair(wiring.options(a)));
        b.use(b.domain.createQueuePair(wiring.options(b)));
        var access = verbena.verbs.Access.remoteAll();
        a.qp().connect(
                        b.qp().endpoint(verbena.conformance.fixture.TestEnd.gidIndex(b.context)),
                        wiring.connectOptions(access));
        a.write(1, 0, 8, b, 0);
        b.qp().connect(
                        a.qp().endpoint(verbena.conformance.fixture.TestEnd.gidIndex(a.context)),
                        wiring.connectOptions(access));
        a.ok(1);
        Expect.bytes("what was written", a.bytes(0, 8), b.bytes(0, 8));
    }
}
