package verbena.conformance.cases;

import verbena.conformance.rig.Expect;
import verbena.conformance.rig.Needs;
import verbena.conformance.rig.Pair;
import verbena.conformance.rig.Rig;
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

    public static void aMessageWaitsForItsReceive(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
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
    public static void aWriteWithImmediateWaitsForItsReceive(Rig rig) throws InterruptedException {
        Pair pair = rig.rc();
        pair.a()
                .qp()
                .postWriteWithImmediate(
                        1, pair.a().memory, 0, 5000, pair.b().at(0), pair.b().rkey(), 7);
        pair.b().context.awaitAsyncEvent(java.time.Duration.ofMillis(20));
        pair.b().receive(2, 0, 0);
        pair.b().ok(2);
        pair.a().ok(1);
        Expect.bytes("what was written", pair.a().bytes(0, 5000), pair.b().bytes(0, 5000));
    }

    @Needs(Capability.ENDPOINTS)
    public static void withoutRnrRetriesTheFirstRefusalIsTheLast(Rig rig) throws InterruptedException {
        Pair pair = rig.wire(QpType.RC)
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
    public static void rnrRetriesComeToAnEnd(Rig rig) throws InterruptedException {
        Pair pair = rig.wire(QpType.RC)
                .retries(new AckTimeout(14), 7, 3)
                .minRnrTimer(QUICK)
                .connect();
        pair.a().send(1, 0, 8);
        pair.a().fails(1, WcStatus.RNR_RETRY_EXC_ERR);
    }

    @Needs(Capability.ENDPOINTS)
    public static void writesAndReadsNeedNoReceive(Rig rig) throws InterruptedException {
        Pair pair = rig.wire(QpType.RC).retries(new AckTimeout(14), 7, 0).connect();
        pair.a().write(1, 0, 8, pair.b(), 0);
        pair.a().ok(1);
        pair.a().read(2, 0, 8, pair.b(), 0);
        pair.a().ok(2);
    }

    @Needs(Capability.ENDPOINTS)
    public static void aPeerThatIsClosedIsGivenUp(Rig rig) throws InterruptedException {
        Pair pair = rig.wire(QpType.RC).retries(SHORT, 1, 7).connect();
        pair.b().close();
        pair.a().write(1, 0, 8, pair.b(), 0);
        pair.a().send(2, 0, 8);
        pair.a().fails(1, WcStatus.RETRY_EXC_ERR);
        pair.a().flushed(2);
        pair.a().isBroken();
    }

    @Needs(Capability.ENDPOINTS)
    public static void aPeerInErrorIsGivenUp(Rig rig) throws InterruptedException {
        Pair pair = rig.wire(QpType.RC).retries(SHORT, 0, 7).connect();
        pair.b().qp().modify(new verbena.verbs.Transition.ToError());
        pair.a().read(1, 0, 8, pair.b(), 0);
        pair.a().fails(1, WcStatus.RETRY_EXC_ERR);
    }

    @Needs(Capability.ENDPOINTS)
    public static void aPeerThatIsNotYetReceivingIsWaitedFor(Rig rig) throws InterruptedException {
        var a = rig.side(rig.a());
        var b = rig.side(rig.b());
        var wiring = rig.wire(QpType.RC).retries(new AckTimeout(14), 7, 7);
        a.use(a.domain.createQueuePair(wiring.options(a)));
        b.use(b.domain.createQueuePair(wiring.options(b)));
        var access = verbena.verbs.Access.remoteAll();
        a.qp().connect(
                        b.qp().endpoint(verbena.conformance.rig.Side.gidIndex(b.context)),
                        wiring.connectOptions(access));
        a.write(1, 0, 8, b, 0);
        b.qp().connect(
                        a.qp().endpoint(verbena.conformance.rig.Side.gidIndex(a.context)),
                        wiring.connectOptions(access));
        a.ok(1);
        Expect.bytes("what was written", a.bytes(0, 8), b.bytes(0, 8));
    }
}
