package verbena.conformance.cases;

import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Capability;
import verbena.verbs.FlowField;
import verbena.verbs.FlowRule;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.PacketFlow;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;

/// Queue pairs of whole Ethernet frames, as far as no frame leaves: what arrives where depends on the network.
@Needs(Capability.RAW_PACKET)
public final class RawPackets {
    /// A rule of a type for experiments, which no frames of others fit.
    private static final FlowRule RULE = FlowRule.everything().with(FlowField.ETHER_TYPE, 0x88B5);

    private RawPackets() {}

    private static QueuePair make(Fixture fixture, TestEnd end) {
        return fixture.own(end.domain.createQueuePair(QueuePairOptions.rawPacket(end.cq)));
    }

    private static QueuePair ready(Fixture fixture, TestEnd end) {
        QueuePair qp = make(fixture, end);
        qp.modify(new QpModification().withState(QpState.INIT).withPort(1));
        qp.modify(new QpModification().withState(QpState.RTR));
        qp.modify(new QpModification().withState(QpState.RTS));
        return qp;
    }

    public static void thePortIsAllThatItNeeds(Fixture fixture) throws Exception {
        QueuePair qp = make(fixture, fixture.end());
        Expect.thrown(
                "no port",
                InvalidAttributesException.class,
                () -> qp.modify(new QpModification().withState(QpState.INIT)));
        qp.modify(new QpModification().withState(QpState.INIT).withPort(1));
        qp.modify(new QpModification().withState(QpState.RTR));
        Expect.thrown(
                "a PSN",
                InvalidAttributesException.class,
                () -> qp.modify(new QpModification().withState(QpState.RTS).withSqPsn(1)));
        qp.modify(new QpModification().withState(QpState.RTS));
        Expect.equal("state", QpState.RTS, qp.state());
    }

    public static void itHasNoPeer(Fixture fixture) throws Exception {
        QueuePair qp = make(fixture, fixture.end());
        Expect.thrown("connect", InvalidStateException.class, () -> qp.connect(qp.endpoint()));
    }

    public static void itHasNoRequestButSend(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        QueuePair qp = ready(fixture, end);
        Expect.thrown(
                "WRITE",
                IllegalArgumentException.class,
                () -> qp.postWrite(1, end.memory.slice(0, 64), new RemoteMemory(0, end.memory.rkey(), 64)));
        Expect.thrown(
                "READ",
                IllegalArgumentException.class,
                () -> qp.postRead(1, new RemoteMemory(0, end.memory.rkey(), 64), end.memory.slice(0, 64)));
    }

    public static void aFlowBeginsWithNothingCounted(Fixture fixture) throws Exception {
        QueuePair qp = ready(fixture, fixture.end());
        PacketFlow flow = fixture.own(qp.attachFlow(RULE));
        Expect.equal("rule", RULE, flow.rule());
        Expect.that("it is the queue pair's", flow.queuePair() == qp);
        Expect.equal("packets", 0L, flow.packets());
        Expect.equal("bytes", 0L, flow.bytes());
    }

    public static void flowsCloseFirst(Fixture fixture) throws Exception {
        QueuePair qp = ready(fixture, fixture.end());
        PacketFlow flow = qp.attachFlow(RULE);
        Expect.thrown("closing", InUseException.class, qp::close);
        flow.close();
        qp.close();
        Expect.that("closed", qp.isClosed());
    }
}
