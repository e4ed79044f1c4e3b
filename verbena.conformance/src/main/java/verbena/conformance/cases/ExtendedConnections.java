package verbena.conformance.cases;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.Completion;
import verbena.verbs.Endpoint;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.XrcDomain;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.PortSpace;

/// Requests that name the shared receive queue of the peer which they are for (ibv_open_xrcd(3), IBTA A14).
@Needs({Capability.XRC, Capability.ENDPOINTS})
public final class ExtendedConnections {
    private ExtendedConnections() {}

    /// An initiator at `a`, and a target at `b` in `domain`, where `queue` has eight receives at most.
    private record Setup(
            Fixture fixture, TestEnd a, TestEnd b, XrcDomain domain, SharedReceiveQueue queue, QueuePair target) {
        int number() {
            return queue.number().orElseThrow();
        }

        void receive(SharedReceiveQueue into, long wrId, long offset, int length) {
            fixture.tell("a receive wr " + wrId + " into " + into);
            into.postReceive(wrId, b.memory.slice(offset, length));
        }

        /// Takes the next completion of `at`, which has to be a receive that a message of so many bytes went
        /// into.
        void received(TestEnd at, long wrId, long bytes) throws InterruptedException {
            var received = (Completion.Success) at.take(at.cq);
            Expect.equal("receive", wrId, received.wrId());
            Expect.equal("queue pair", target.qpn(), received.qpn());
            Expect.equal("bytes", bytes, received.byteLength());
        }
    }

    private static Setup setup(Fixture fixture) {
        TestEnd a = fixture.end(fixture.a());
        TestEnd b = fixture.end(fixture.b());
        XrcDomain domain = fixture.own(fixture.b().openXrcDomain());
        SharedReceiveQueue queue = fixture.own(domain.createSharedReceiveQueue(b.domain, b.cq, 8, 2));
        QueuePair target = fixture.own(domain.createTarget());
        connect(fixture, a, target);
        return new Setup(fixture, a, b, domain, queue, target);
    }

    private static void connect(Fixture fixture, TestEnd a, QueuePair target) {
        fixture.wire(QpType.XRC_INITIATOR).byEndpoints(a.use(initiator(fixture, a)), target);
    }

    private static QueuePair initiator(Fixture fixture, TestEnd end) {
        return end.domain.createQueuePair(QueuePairOptions.xrcInitiator(end.cq)
                .withSizes(fixture.wire(QpType.RC).sizes()));
    }

    private static void send(Setup setup, long wrId, int number, long offset, int length) {
        setup.a.post(
                "SEND wr " + wrId + " to queue " + number,
                batch -> batch.send(wrId)
                        .to(number)
                        .sge(setup.a.memory, offset, length)
                        .signaled());
    }

    // ---- objects

    public static void aDomainHasQueuesWithNumbersAndTargets(Fixture fixture) {
        Setup setup = setup(fixture);
        SharedReceiveQueue other = fixture.own(setup.domain.createSharedReceiveQueue(setup.b.domain, setup.b.cq, 4, 1));
        for (SharedReceiveQueue queue : List.of(setup.queue, other)) {
            int number = queue.number().orElseThrow();
            Expect.that("24 bits of number 0x%x".formatted(number), number >= 0 && number <= Endpoint.QPN_MASK);
            Expect.that("its domain", queue.protectionDomain() == setup.b.domain);
        }
        Expect.that("another number", setup.number() != other.number().orElseThrow());
        Expect.atLeast("maxWr", 8, setup.queue.maxWr());
        Expect.atLeast("maxSge", 2, setup.queue.maxSge());
        Expect.equal("type", QpType.XRC_TARGET, setup.target.type());
        Expect.equal(
                "type of options",
                QpType.XRC_TARGET,
                setup.target.query().options().type());
        Expect.equal("type", QpType.XRC_INITIATOR, setup.a.qp().type());
        Expect.that("the context", setup.domain.context() == setup.b.context);
    }

    public static void whatIsUsedIsNotClosed(Fixture fixture) {
        TestEnd end = fixture.end();
        XrcDomain domain = fixture.own(end.context.openXrcDomain());
        SharedReceiveQueue queue = fixture.own(domain.createSharedReceiveQueue(end.domain, end.cq, 8, 2));
        Expect.thrown("closing a domain with a queue", InUseException.class, domain::close);
        Expect.thrown("closing the completion queue", InUseException.class, end.cq::close);
        queue.close();
        QueuePair target = fixture.own(domain.createTarget());
        Expect.thrown("closing a domain with a target", InUseException.class, domain::close);
        target.close();
        domain.close();
        Expect.thrown("a target of a closed domain", InvalidStateException.class, domain::createTarget);
    }

    public static void sizesThatTheDeviceDoesNotHaveAreRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        XrcDomain domain = fixture.own(end.context.openXrcDomain());
        int wr = fixture.attributes().queues().maxSrqWr();
        Expect.thrown(
                "maxSrqWr + 1",
                ResourceLimitException.class,
                () -> domain.createSharedReceiveQueue(end.domain, end.cq, wr + 1, 1));
        Expect.thrown(
                "0 receives",
                IllegalArgumentException.class,
                () -> domain.createSharedReceiveQueue(end.domain, end.cq, 0, 1));
    }

    public static void onlyTargetsTakeReceivesFromSuchAQueue(Fixture fixture) {
        Setup setup = setup(fixture);
        TestEnd b = setup.b;
        Expect.thrown(
                "an RC queue pair with it",
                IllegalArgumentException.class,
                () -> b.domain.createQueuePair(
                        fixture.wire(QpType.RC).options(b).withSharedReceiveQueue(setup.queue)));
        Expect.thrown(
                "an initiator with it",
                IllegalArgumentException.class,
                () -> b.domain.createQueuePair(
                        QueuePairOptions.xrcInitiator(b.cq).withSharedReceiveQueue(setup.queue)));
        Expect.thrown(
                "a target without a domain",
                IllegalArgumentException.class,
                () -> b.domain.createQueuePair(QueuePairOptions.of(QpType.XRC_TARGET, b.cq)));
    }

    // ---- requests

    public static void aMessageGoesToTheQueueThatItNames(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        TestEnd c = fixture.end(fixture.b());
        SharedReceiveQueue other = fixture.own(setup.domain.createSharedReceiveQueue(c.domain, c.cq, 8, 1));
        other.postReceive(1, c.memory.slice(0, 5000));
        setup.receive(setup.queue, 2, 0, 5000);
        send(setup, 10, setup.number(), 100, 3000);
        send(setup, 11, other.number().orElseThrow(), 5000, 4000);
        setup.a.ok(10);
        setup.a.ok(11);
        setup.received(setup.b, 2, 3000);
        setup.received(c, 1, 4000);
        Expect.bytes("message", setup.a.bytes(100, 3000), setup.b.bytes(0, 3000));
        Expect.bytes("message", setup.a.bytes(5000, 4000), c.bytes(0, 4000));
    }

    public static void manyInitiatorsSendToOneQueue(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        for (int i = 0; i < 8; i++) {
            setup.receive(setup.queue, i, 1000L * i, 1000);
        }
        for (int i = 0; i < 4; i++) {
            TestEnd a = fixture.end(fixture.a());
            QueuePair target = fixture.own(setup.domain.createTarget());
            connect(fixture, a, target);
            a.post(
                    "SEND",
                    batch -> batch.send(1)
                            .to(setup.number())
                            .sge(a.memory, 0, 500)
                            .signaled());
            a.ok(1);
            var received = (Completion.Success) setup.b.take(setup.b.cq);
            Expect.equal("receive", (long) i, received.wrId());
            Expect.equal("queue pair", target.qpn(), received.qpn());
            Expect.bytes("message", a.bytes(0, 500), setup.b.bytes(1000L * i, 500));
        }
    }

    public static void immediateDataArrives(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        setup.receive(setup.queue, 1, 0, 100);
        setup.receive(setup.queue, 2, 0, 100);
        setup.a.post("SEND and WRITE with immediate", batch -> {
            batch.sendWithImmediate(10, 0x1234)
                    .to(setup.number())
                    .sge(setup.a.memory, 0, 10)
                    .signaled();
            batch.writeWithImmediate(11, setup.b.at(200), setup.b.rkey(), 0x5678)
                    .to(setup.number())
                    .sge(setup.a.memory, 0, 20)
                    .signaled();
        });
        setup.a.ok(10, WcOpcode.SEND);
        setup.a.ok(11, WcOpcode.RDMA_WRITE);
        var sent = (Completion.Success) setup.b.take(setup.b.cq);
        Expect.equal("immediate", 0x1234, sent.immediate().orElseThrow());
        var written = (Completion.Success) setup.b.take(setup.b.cq);
        Expect.equal("immediate", 0x5678, written.immediate().orElseThrow());
        Expect.equal("opcode", WcOpcode.RECV_RDMA_WITH_IMM, written.opcode());
        Expect.bytes("memory", setup.a.bytes(0, 20), setup.b.bytes(200, 20));
    }

    public static void writesReadsAndAtomicsReachMemoryOfTheQueuesDomain(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        TestEnd a = setup.a;
        TestEnd b = setup.b;
        int number = setup.number();
        a.post(
                "WRITE",
                batch -> batch.write(1, b.at(8), b.rkey())
                        .to(number)
                        .sge(a.memory, 0, 5000)
                        .signaled());
        a.ok(1, WcOpcode.RDMA_WRITE);
        a.post(
                "READ",
                batch -> batch.read(2, b.at(10_000), b.rkey())
                        .to(number)
                        .sge(a.memory, 10_000, 7000)
                        .signaled());
        a.ok(2, WcOpcode.RDMA_READ);
        Expect.bytes("written", a.bytes(0, 5000), b.bytes(8, 5000));
        Expect.bytes("read", b.bytes(10_000, 7000), a.bytes(10_000, 7000));
        b.word(0, 100);
        a.post(
                "FETCH_ADD",
                batch -> batch.fetchAdd(3, b.at(0), b.rkey(), 5)
                        .to(number)
                        .sge(a.memory, 0, 8)
                        .signaled());
        a.ok(3, WcOpcode.FETCH_ADD);
        Expect.equal("value before", 100L, a.word(0));
        a.post(
                "CMP_SWAP",
                batch -> batch.compareSwap(4, b.at(0), b.rkey(), 105, 7)
                        .to(number)
                        .sge(a.memory, 0, 8)
                        .signaled());
        a.ok(4, WcOpcode.COMP_SWAP);
        Expect.equal("value after", 7L, b.word(0));
    }

    public static void aMessageWaitsForAReceive(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        send(setup, 1, setup.number(), 0, 100);
        setup.b.context.awaitAsyncEvent(Duration.ofMillis(10));
        setup.receive(setup.queue, 5, 0, 100);
        setup.a.ok(1);
        setup.received(setup.b, 5, 100);
    }

    public static void fewReceivesAreTold(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        setup.receive(setup.queue, 1, 0, 100);
        setup.receive(setup.queue, 2, 0, 100);
        setup.queue.armLimit(2);
        send(setup, 1, setup.number(), 0, 100);
        setup.a.ok(1);
        var event = fixture.event(setup.b.context, EnumSet.of(AsyncEvent.Type.SRQ_LIMIT_REACHED));
        Expect.that("of the queue", ((AsyncEvent.SharedReceiveQueueEvent) event).sharedReceiveQueue() == setup.queue);
    }

    // ---- refusals

    private static void refused(Fixture fixture, Consumer<Setup> before, NumberOf number) throws InterruptedException {
        Setup setup = setup(fixture);
        before.accept(setup);
        send(setup, 1, number.of(setup), 0, 100);
        setup.a.fails(1, WcStatus.REM_ACCESS_ERR, WcStatus.REM_INV_REQ_ERR, WcStatus.REM_OP_ERR);
        setup.a.isBroken();
        setup.a.until("the target is in ERR", () -> setup.target.state() == QpState.ERR);
        var event = fixture.event(
                setup.b.context,
                EnumSet.of(AsyncEvent.Type.QP_ACCESS_ERR, AsyncEvent.Type.QP_REQ_ERR, AsyncEvent.Type.QP_FATAL));
        Expect.that("of the target", ((AsyncEvent.QueuePairEvent) event).queuePair() == setup.target);
    }

    /// The number that names a queue.
    private interface NumberOf {
        int of(Setup setup);
    }

    public static void aNumberThatIsNoneIsRefused(Fixture fixture) throws InterruptedException {
        refused(fixture, _ -> {}, setup -> setup.number() ^ 1);
    }

    public static void aQueueOfAnotherDomainIsRefused(Fixture fixture) throws InterruptedException {
        var others = new SharedReceiveQueue[1];
        refused(
                fixture,
                setup -> {
                    XrcDomain other = fixture.own(fixture.b().openXrcDomain());
                    others[0] = fixture.own(other.createSharedReceiveQueue(setup.b.domain, setup.b.cq, 8, 2));
                    setup.receive(others[0], 1, 0, 100);
                },
                _ -> others[0].number().orElseThrow());
    }

    public static void aClosedQueueIsRefused(Fixture fixture) throws InterruptedException {
        refused(
                fixture,
                setup -> {
                    setup.receive(setup.queue, 1, 0, 100);
                    setup.queue.close();
                },
                Setup::number);
    }

    public static void memoryOfAnotherProtectionDomainIsRefused(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        TestEnd c = fixture.end(fixture.b());
        setup.a.post(
                "WRITE to memory of another domain than the queue's",
                batch -> batch.write(1, c.at(0), c.rkey())
                        .to(setup.number())
                        .sge(setup.a.memory, 0, 100)
                        .signaled());
        setup.a.fails(1, WcStatus.REM_ACCESS_ERR);
    }

    public static void whatTheTargetDoesNotAllowIsRefused(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        setup.target.modify(new QpModification().withAccess(Set.of(Access.REMOTE_READ)));
        setup.a.post(
                "WRITE",
                batch -> batch.write(1, setup.b.at(0), setup.b.rkey())
                        .to(setup.number())
                        .sge(setup.a.memory, 0, 100)
                        .signaled());
        setup.a.fails(1, WcStatus.REM_INV_REQ_ERR, WcStatus.REM_ACCESS_ERR);
    }

    // ---- mistakes of callers

    public static void eachRequestNamesAQueue(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        TestEnd a = setup.a;
        setup.receive(setup.queue, 1, 0, 100);
        Expect.thrown("a SEND to no queue", IllegalArgumentException.class, () -> a.send(1, 0, 10));
        Expect.thrown(
                "a FETCH_ADD to no queue",
                IllegalArgumentException.class,
                () -> a.qp().postFetchAdd(1, setup.b.memory.remote(), 1, a.memory.slice(0, 8)));
        Expect.thrown(
                "a number of 25 bits",
                IllegalArgumentException.class,
                () -> a.post("SEND", batch -> batch.send(1).to(1 << 24)));
        send(setup, 2, setup.number(), 0, 10);
        a.ok(2);
    }

    public static void othersNameNoQueue(Fixture fixture) throws InterruptedException {
        var pair = fixture.rc();
        Expect.thrown(
                "a SEND on RC to a queue",
                IllegalArgumentException.class,
                () -> pair.a().post("SEND", batch -> batch.send(1).to(1)));
    }

    public static void anInitiatorReceivesNothingAndATargetSendsNothing(Fixture fixture) {
        Setup setup = setup(fixture);
        Expect.thrown("a receive of an initiator", InvalidStateException.class, setup.a.qp()::receiveBatch);
        Expect.thrown("a receive of a target", InvalidStateException.class, setup.target::receiveBatch);
        Expect.thrown("a send of a target", InvalidStateException.class, () -> {
            SendBatch _ = setup.target.sendBatch();
        });
    }

    public static void eachEndTakesTheAttributesOfItsHalf(Fixture fixture) {
        Setup setup = setup(fixture);
        QueuePair initiator = fixture.own(initiator(fixture, setup.a));
        initiator.modify(new Transition.ToInit(Set.of()));
        var rtr = new QpModification()
                .withState(QpState.RTR)
                .withPath(setup.target.query().peer().path().orElseThrow())
                .withPathMtu(setup.target.query().peer().pathMtu())
                .withDestinationQpn(setup.target.qpn())
                .withRqPsn(1)
                .withMaxDestinationReadAtomic(1);
        Expect.thrown(
                "MAX_DEST_RD_ATOMIC of an initiator", InvalidAttributesException.class, () -> initiator.modify(rtr));
        Expect.thrown(
                "RETRY_CNT of a target",
                InvalidAttributesException.class,
                () -> setup.target.modify(
                        new QpModification().withState(QpState.SQD).withRetryCount(1)));
    }

    @Needs(Capability.CONNECTION_MANAGER)
    public static void theConnectionManagerHasNone(Fixture fixture) throws InterruptedException {
        ConnectionId id = fixture.cm().resolved(PortSpace.TCP);
        var domain = fixture.own(id.context().allocateProtectionDomain());
        var cq = fixture.own(id.context().createCompletionQueue(4));
        Expect.thrown(
                "an initiator for a connection by address",
                IllegalArgumentException.class,
                () -> id.createQueuePair(domain, QueuePairOptions.xrcInitiator(cq)));
        QueuePair target = fixture.own(fixture.own(id.context().openXrcDomain()).createTarget());
        Expect.thrown(
                "a target for a connection by address", IllegalArgumentException.class, () -> id.useQueuePair(target));
    }

    public static void anInitiatorThatEndsFlushesWhatIsPosted(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        send(setup, 1, setup.number(), 0, 100);
        send(setup, 2, setup.number(), 0, 100);
        setup.a.qp().modify(new Transition.ToError());
        setup.a.flushed(1, 2);
    }
}
