package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;

/// UD queue pairs, address handles and multicast groups, through the API.
class DatagramTest {
    private static final int QKEY = 0x1234_5678;
    private static final Gid GROUP = Gid.parse("239.1.2.3");
    private static final int MULTICAST_QPN = 0xFF_FFFF;

    private final Pair pair = new Pair();
    private final Pair.End a = pair.a;
    private final Pair.End b = pair.b;
    private QueuePair ua;
    private QueuePair ub;
    private AddressHandle toB;

    @BeforeEach
    void open() {
        ua = ready(a);
        ub = ready(b);
        toB = a.domain.createAddressHandle(AddressVector.to(Gid.parse("10.0.0.2"), 0));
    }

    @AfterEach
    void close() {
        pair.close();
    }

    private static QueuePair ready(Pair.End end) {
        QueuePair qp = end.domain.createQueuePair(QueuePairOptions.ud(end.cq));
        qp.modify(new Transition.ToInitUd(1, 0, QKEY));
        qp.modify(new Transition.ToRtrUd());
        qp.modify(new Transition.ToRtsUnreliable(0));
        return qp;
    }

    private void send(long wrId, int length, AddressHandle to, int qpn, int qkey) {
        try (SendBatch batch = ua.sendBatch()) {
            batch.send(wrId)
                    .sge(a.memory, 0, length)
                    .to(to, qpn, qkey)
                    .signaled()
                    .submit();
        }
        pair.settle();
    }

    @Test
    void aDatagramArrivesBehindItsAddressAndCanBeAnswered() {
        a.memory.segment().set(ValueLayout.JAVA_INT, 0, 4711);
        ub.postReceive(7, b.memory.slice(0, 140));
        send(1, 100, toB, ub.qpn(), QKEY);

        assertThat(a.completions()).containsExactly("1 SUCCESS");
        var wc = new WorkCompletion();
        assertThat(b.cq.poll(wc)).isTrue();
        assertThat(wc.ok()).isTrue();
        assertThat(wc.byteLength()).isEqualTo(140);
        assertThat(CompletionAccess.flags(wc)).isEqualTo(CompletionAccess.GRH | CompletionAccess.IPV4);
        assertThat(wc.sourceQpn()).isEqualTo(ua.qpn());
        assertThat(b.memory.segment().get(ValueLayout.JAVA_INT, 40)).isEqualTo(4711);

        AddressHandle back = b.domain.createAddressHandle(wc, b.memory.segment().asSlice(0, 40));
        assertThat(back.vector().destination()).isEqualTo(Gid.parse("10.0.0.1"));
        ua.postReceive(8, a.memory.slice(0, 200));
        try (SendBatch batch = ub.sendBatch()) {
            batch.sendWithImmediate(2, 99)
                    .sge(b.memory, 0, 3)
                    .to(back, wc.sourceQpn(), QKEY)
                    .submit();
        }
        pair.settle();
        assertThat(a.cq.poll(wc)).isTrue();
        assertThat(wc.immediate()).isEqualTo(99);
        assertThat(wc.byteLength()).isEqualTo(43);
    }

    @Test
    void theWrongQkeyIsDroppedAndCounted() {
        ub.postReceive(7, b.memory.slice(0, 140));
        send(1, 100, toB, ub.qpn(), QKEY + 1);
        assertThat(b.completions()).isEmpty();
        assertThat(b.context.counters()).containsEntry("dropped.qkey", 1L);
    }

    @Test
    void aDatagramNamesItsReceiverAndFitsIntoAPacket() {
        try (SendBatch batch = ua.sendBatch()) {
            batch.send(1).sge(a.memory, 0, 10);
            assertThatThrownBy(batch::submit)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("batch request 1 (wrId 1): SEND: name the receiver: to(handle, qpn, qkey)");
            batch.send(2).sge(a.memory, 0, 4_097).to(toB, ub.qpn(), QKEY);
            assertThatThrownBy(batch::submit)
                    .hasMessage("batch request 1 (wrId 2): SEND: a datagram has at most 4096 bytes, the port's active"
                            + " MTU, got 4097");
            batch.send(3);
            assertThatThrownBy(() -> batch.to(toB, 1 << 24, QKEY)).hasMessageContaining("to: qpn: 0 to 0xffffff");
            assertThatThrownBy(() -> batch.read(4, 0, 0))
                    .hasMessage("batch request 1 (wrId 4): READ: a queue pair of type UD has no such request");
            assertThat(batch.submit()).isZero();
        }
    }

    @Test
    void handlesBelongToTheirDomainAndMustBeOpen() {
        AddressHandle foreign = a.context.allocateProtectionDomain().createAddressHandle(AddressVector.to(GROUP, 0));
        AddressHandle closed = a.domain.createAddressHandle(AddressVector.to(GROUP, 0));
        closed.close();
        try (SendBatch batch = ua.sendBatch()) {
            batch.send(1);
            assertThatThrownBy(() -> batch.to(foreign, 1, 1)).hasMessageContaining("to: handle: of protection domain");
            batch.send(1);
            assertThatThrownBy(() -> batch.to(closed, 1, 1))
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessageEndingWith("to: address handle to 239.1.2.3 is closed");
        }
        assertThatThrownBy(() -> a.domain.createAddressHandle(AddressVector.to(Gid.parse("fd00::1"), 0)))
                .isInstanceOf(InvalidAttributesException.class)
                .hasMessageStartingWith("createAddressHandle: own GID 0 is 10.0.0.1");
        try (SendBatch batch = Pair.connected().a.qp.sendBatch()) {
            batch.send(1);
            assertThatThrownBy(() -> batch.to(toB, 1, 1)).hasMessageContaining("which has one peer; only UD chooses");
        }
    }

    @Test
    void aFailedSendStopsSendingAndNotReceiving() {
        var gone = a.domain.allocate(64, java.util.Set.of());
        int lkey = gone.lkey();
        gone.close();
        ua.postReceive(7, a.memory.slice(0, 140));
        try (SendBatch batch = ua.sendBatch()) {
            batch.send(1).sge(lkey, 0, 10).to(toB, ub.qpn(), QKEY);
            batch.send(2).sge(a.memory, 0, 10).to(toB, ub.qpn(), QKEY);
            batch.submit();
        }
        pair.settle();
        assertThat(a.completions()).containsExactly("1 LOC_PROT_ERR", "2 WR_FLUSH_ERR");
        assertThat(ua.state()).isEqualTo(QpState.SQE);

        AddressHandle toA = b.domain.createAddressHandle(AddressVector.to(Gid.parse("10.0.0.1"), 0));
        try (SendBatch batch = ub.sendBatch()) {
            batch.send(3).to(toA, ua.qpn(), QKEY).submit();
        }
        pair.settle();
        assertThat(a.completions()).containsExactly("7 SUCCESS");

        ua.modify(new QpModification().withState(QpState.RTS));
        send(4, 10, toB, ub.qpn(), QKEY);
        assertThat(a.completions()).containsExactly("4 SUCCESS");
    }

    @Test
    void aGroupsDatagramGoesToAllAttachedQueuePairs() {
        QueuePair second = ready(b);
        QueuePair third = ready(b);
        for (QueuePair qp : new QueuePair[] {ub, second, third}) {
            qp.postReceive(qp.qpn(), b.memory.slice(0, 140));
        }
        ub.attachMulticast(GROUP);
        second.attachMulticast(GROUP);
        second.attachMulticast(GROUP);
        assertThat(b.wire.groups).containsExactly(GROUP);

        AddressHandle toGroup = a.domain.createAddressHandle(AddressVector.to(GROUP, 0));
        send(1, 50, toGroup, MULTICAST_QPN, QKEY);
        assertThat(b.completions()).containsExactly(ub.qpn() + " SUCCESS", second.qpn() + " SUCCESS");

        ub.detachMulticast(GROUP);
        assertThatThrownBy(() -> ub.detachMulticast(GROUP))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageEndingWith("is not attached to 239.1.2.3");
        assertThat(b.wire.groups).containsExactly(GROUP);
        second.close();
        assertThat(b.wire.groups).isEmpty();
        send(2, 50, toGroup, MULTICAST_QPN, QKEY);
        assertThat(b.completions()).isEmpty();
        assertThat(b.context.counters()).containsEntry("dropped.unknown-qp", 1L);
    }

    @Test
    void aGroupsAddressIsNoWayToOneQueuePair() {
        ub.attachMulticast(GROUP);
        ub.postReceive(7, b.memory.slice(0, 140));
        AddressHandle toGroup = a.domain.createAddressHandle(AddressVector.to(GROUP, 0));
        send(1, 50, toGroup, ub.qpn(), QKEY);
        assertThat(b.completions()).isEmpty();
        assertThat(b.context.counters()).containsEntry("dropped.unknown-qp", 1L);
    }

    @Test
    void onlyDatagramsHaveGroups() {
        assertThatThrownBy(() -> a.qp.attachMulticast(GROUP))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageEndingWith("is of type RC; only UD takes part");
        assertThatThrownBy(() -> ua.attachMulticast(Gid.parse("10.0.0.9")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("attachMulticast: group: 224.0.0.0 to 239.255.255.255 or ff00::/8, got 10.0.0.9");
    }

    @Test
    void aDatagramQueuePairHasNoPeer() {
        QueuePair fresh = a.domain.createQueuePair(QueuePairOptions.ud(a.cq));
        assertThatThrownBy(() -> fresh.connect(b.qp.endpoint()))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageContaining("is of type UD, which has no peer");
        assertThat(ua.query().qkey()).isEqualTo(QKEY);
    }
}
