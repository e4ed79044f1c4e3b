package verbena.conformance.cases;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// The life of a queue pair, from being made to being closed.
public final class QueuePairs {
    private QueuePairs() {}

    private static List<QpType> types(Fixture fixture) {
        var types = new ArrayList<QpType>();
        for (QpType type : QpType.values()) {
            if (!type.isXrc() && type != QpType.RAW_PACKET && fixture.has(type.capability())) {
                types.add(type);
            }
        }
        return types;
    }

    private static QueuePair make(Fixture fixture, TestEnd end, QpType type) {
        return fixture.own(end.domain.createQueuePair(fixture.wire(type).options(end)));
    }

    public static void aNewQueuePairIsInReset(Fixture fixture) {
        TestEnd end = fixture.end();
        for (QpType type : types(fixture)) {
            QueuePair qp = make(fixture, end, type);
            Expect.equal("state", QpState.RESET, qp.state());
            Expect.equal("type", type, qp.type());
            Expect.that("the domain is its own", qp.protectionDomain() == end.domain);
            Expect.that(
                    "number 0x%x has 24 bits and is none of InfiniBand's own".formatted(qp.qpn()),
                    qp.qpn() > (fixture.isAcknowledged() ? 1 : 0) && qp.qpn() < Endpoint.MULTICAST_QPN);
        }
    }

    public static void numbersOfOpenQueuePairsDiffer(Fixture fixture) {
        TestEnd end = fixture.end();
        var numbers = new HashSet<Integer>();
        int many = Math.min(100, fixture.attributes().queues().maxQp() / 4);
        for (int i = 0; i < many; i++) {
            Expect.that(
                    "number of queue pair " + i + " is its own",
                    numbers.add(make(fixture, end, QpType.RC).qpn()));
        }
    }

    public static void queryTellsWhatItWasMadeWith(Fixture fixture) {
        TestEnd end = fixture.end();
        TestEnd other = fixture.end();
        QueuePairOptions asked =
                fixture.wire(QpType.RC).options(end).withReceiveCq(other.cq).withSignalAll(true);
        QueuePairOptions options =
                fixture.own(end.domain.createQueuePair(asked)).query().options();
        Expect.that("send queue", options.sendCq() == end.cq);
        Expect.that("receive queue", options.receiveCq() == other.cq);
        Expect.equal("type", QpType.RC, options.type());
        Expect.that("every request is signalled", options.signalAll());
        Expect.atLeast("maxSendWr", asked.maxSendWr(), options.maxSendWr());
        Expect.atLeast("maxReceiveWr", asked.maxReceiveWr(), options.maxReceiveWr());
        Expect.atLeast("maxSendSge", asked.maxSendSge(), options.maxSendSge());
        Expect.atLeast("maxReceiveSge", asked.maxReceiveSge(), options.maxReceiveSge());
        Expect.atLeast("maxInlineBytes", asked.maxInlineBytes(), options.maxInlineBytes());
    }

    public static void queuePairsComeAndGo(Fixture fixture) {
        TestEnd end = fixture.end();
        for (int i = 0; i < 100; i++) {
            for (QpType type : types(fixture)) {
                end.domain.createQueuePair(fixture.wire(type).options(end)).close();
            }
        }
    }

    public static void connectingBringsBothToRts(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        Expect.equal("state of a", QpState.RTS, pair.a().qp().state());
        Expect.equal("state of b", QpState.RTS, pair.b().qp().state());
        Expect.equal("queried state of a", QpState.RTS, pair.a().qp().query().state());
    }

    @Needs(Capability.ENDPOINTS)
    public static void queryTellsWhatItWasConnectedWith(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).mtu(Mtu.MTU_1024).connect();
        var its = pair.a().qp().query();
        Expect.equal("path MTU", Mtu.MTU_1024, its.peer().pathMtu());
        Expect.equal("destination", pair.b().qp().qpn(), its.peer().destinationQpn());
        Expect.equal(
                "access",
                Access.remoteAll().contains(Access.REMOTE_READ),
                its.access().contains(Access.REMOTE_READ));
        Expect.equal("ACK timeout", 14, its.sending().ackTimeout().code());
        Expect.equal("retries", 7, its.sending().retryCount());
        Expect.equal("RNR retries", 7, its.sending().rnrRetry());
        Expect.equal("minimum RNR timer", 12, its.receiving().minRnrTimer().code());
        Expect.equal("port", 1, its.port());
        Expect.equal(
                "first PSN of b",
                pair.b().qp().query().sending().sqPsn(),
                its.receiving().rqPsn());
        Expect.that("the way is known", its.peer().path().isPresent());
    }

    @Needs(Capability.ENDPOINTS)
    public static void connectingWithMoreReadsThanADeviceHasTakesAllItHas(Fixture fixture) throws InterruptedException {
        int asked = fixture.attributes().transport().maxQpInitiatorReadAtomic();
        int served = fixture.attributes().transport().maxQpReadAtomic();
        Pair pair = fixture.wire(QpType.RC).reads(Math.max(asked, served) + 1).connect();
        var its = pair.a().qp().query();
        Expect.equal("READs that a asks for at once", asked, its.sending().maxReadAtomic());
        Expect.equal("READs that a serves at once", served, its.receiving().maxDestinationReadAtomic());
        pair.a()
                .post(
                        "READ",
                        batch -> batch.read(1, pair.b().at(0), pair.b().rkey())
                                .sge(pair.a().memory, 0, 8)
                                .signaled());
        pair.a().ok(1);
    }

    @Needs(Capability.ENDPOINTS)
    public static void anEndpointStaysTheSame(Fixture fixture) {
        QueuePair qp = make(fixture, fixture.end(), QpType.RC);
        Endpoint endpoint = qp.endpoint();
        Expect.equal("asked for again", endpoint, qp.endpoint());
        Expect.equal("queue pair number", qp.qpn(), endpoint.qpn());
        Expect.equal("as text and back", endpoint, Endpoint.parse(endpoint.format()));
    }

    @Needs(Capability.ENDPOINTS)
    public static void anEndpointThatDoesNotFitIsRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        QueuePair qp = make(fixture, end, QpType.RC);
        Endpoint own = make(fixture, end, QpType.RC).endpoint();
        GidType otherType = own.gidType() == GidType.ROCE_V1 ? GidType.ROCE_V2 : GidType.ROCE_V1;
        Expect.thrown(
                "another encapsulation",
                InvalidAttributesException.class,
                () -> qp.connect(new Endpoint(own.gid(), otherType, own.qpn(), own.psn(), own.mtu())));
        Expect.equal("state", QpState.RESET, qp.state());
        boolean isIpv4 =
                fixture.a().gids(1).stream().allMatch(entry -> entry.gid().isIpv4());
        if (isIpv4) {
            Expect.thrown(
                    "another family",
                    InvalidAttributesException.class,
                    () -> qp.connect(
                            new Endpoint(Gid.parse("2001:db8::1"), own.gidType(), own.qpn(), own.psn(), own.mtu())));
        }
    }

    @Needs(Capability.ENDPOINTS)
    public static void aQueuePairCanBeConnectedToItself(Fixture fixture) throws InterruptedException {
        TestEnd end = fixture.end();
        QueuePair qp =
                end.use(end.domain.createQueuePair(fixture.wire(QpType.RC).options(end)));
        qp.connect(qp.endpoint(TestEnd.gidIndex(fixture.a())));
        end.receive(1, 0, 100);
        end.send(2, 1000, 100);
        var done = new HashSet<Long>();
        done.add(end.take().wrId());
        done.add(end.take().wrId());
        Expect.equal("completed requests", java.util.Set.of(1L, 2L), done);
        Expect.bytes("what was received", end.bytes(1000, 100), end.bytes(0, 100));
        end.write(3, 2000, 500, end, 5000);
        end.ok(3);
        end.read(4, 6000, 500, end, 2000);
        end.ok(4);
        Expect.bytes("what was read", end.bytes(5000, 500), end.bytes(6000, 500));
    }

    public static void errorEndsEverythingThatIsPosted(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int i = 0; i < 5; i++) {
            pair.a().receive(i, 0, 8);
        }
        pair.a().qp().modify(new Transition.ToError());
        pair.a().isBroken();
        pair.a().flushed(0, 1, 2, 3, 4);
        pair.a().silent();
    }

    public static void whatIsPostedInErrorIsFlushed(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().qp().modify(new Transition.ToError());
        pair.a().send(1, 0, 8);
        pair.a().flushed(1);
        pair.a().receive(2, 0, 8);
        pair.a().flushed(2);
        pair.a().post("an unsignalled SEND", batch -> batch.send(3).sge(pair.a().memory, 0, 8));
        pair.a().flushed(3);
    }

    public static void inErrorNothingOfThePeerIsCarriedOut(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC)
                .retries(new verbena.verbs.AckTimeout(10), 1, 0)
                .connect();
        pair.b().qp().modify(new Transition.ToError());
        byte[] before = pair.b().bytes(0, 100);
        pair.a().word(0, 0x5555_5555_5555_5555L);
        try {
            pair.a().write(1, 0, 100, pair.b(), 0);
            var completion = pair.a().take();
            Expect.that(
                    "the WRITE is not acknowledged",
                    !fixture.isAcknowledged() || !(completion instanceof verbena.verbs.Completion.Success));
        } catch (InvalidStateException e) {
            fixture.tell("the connection is over already: " + e.getMessage());
        }
        Expect.bytes("memory of b", before, pair.b().bytes(0, 100));
    }

    @Needs(Capability.ENDPOINTS)
    public static void resetForgetsEverything(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(1, 0, 8);
        pair.b().receive(2, 0, 8);
        pair.b().qp().modify(new Transition.ToReset());
        Expect.equal("state", QpState.RESET, pair.b().qp().state());
        pair.b().silent();
        Expect.thrown(
                "a receive in RESET",
                InvalidStateException.class,
                () -> pair.b().qp().postReceive(3, pair.b().memory.slice(0, 8)));
    }

    @Needs(Capability.ENDPOINTS)
    public static void aQueuePairLivesAgainAfterReset(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        var wiring = fixture.wire(QpType.RC);
        for (int life = 0; life < 3; life++) {
            pair.b().receive(1, 0, 100);
            pair.a().send(2, 1000, 100);
            pair.a().ok(2);
            pair.b().received(1, 100);
            for (TestEnd end : List.of(pair.a(), pair.b())) {
                end.qp().modify(new Transition.ToError());
                end.qp().modify(new Transition.ToReset());
            }
            wiring.byEndpoints(pair.a().qp(), pair.b().qp());
        }
    }

    public static void aClosedQueuePairDoesNothing(Fixture fixture) {
        QueuePair qp = make(fixture, fixture.end(), QpType.RC);
        qp.close();
        qp.close(); // says nothing the second time
        Expect.that("it is closed", qp.isClosed());
        Expect.thrown("send", InvalidStateException.class, qp::sendBatch);
        Expect.thrown("receive", InvalidStateException.class, qp::receiveBatch);
        Expect.thrown(
                "modify", InvalidStateException.class, () -> qp.modify(new Transition.ToInit(Access.remoteAll())));
    }

    public static void closingTakesCompletionsOfTheFutureAlong(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int i = 0; i < 10; i++) {
            pair.a().receive(i, 0, 8);
        }
        pair.a().qp().close();
        pair.a().silent();
    }

    public static void whatHasCompletedBeforeClosingStays(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(1, 0, 100);
        pair.a().send(2, 0, 100);
        pair.b().received(1, 100); // so that it has been acknowledged, and the answer is on its way or here
        pair.a().ok(2);
        pair.b().receive(4, 0, 100);
        pair.a().send(3, 0, 0);
        pair.b().received(4, 0);
        pair.a().close();
        pair.b().close();
        pair.b().silent();
    }
}
