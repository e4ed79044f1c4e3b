package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.cm.CmCall;
import verbena.cm.CmConnection;
import verbena.cm.CmEnd;
import verbena.cm.CmEvent;
import verbena.cm.CmExtension;
import verbena.cm.CmRoute;
import verbena.nic.roce.CmAgent;
import verbena.nic.roce.RoceKind;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.verbs.Gid;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.wire.Frame;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.PrivateData;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.mad.Mad;

/// Queue pair 1: management datagrams and their agents, in virtual time.
class GsiTest {
    private static final int CLASS = 0x09;
    private static final Gid A = Gid.parse("10.0.0.1");
    private static final Gid B = Gid.parse("10.0.0.2");

    private final Pair pair = new Pair();
    private final Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES))[0];

    @AfterEach
    void close() {
        pair.close();
    }

    private static MemorySegment mad(int managementClass, int number) {
        MemorySegment mad = MemorySegment.ofArray(new byte[Mad.BYTES]);
        mad.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        mad.set(ValueLayout.JAVA_BYTE, 1, (byte) managementClass);
        mad.set(ValueLayout.JAVA_BYTE, Mad.BYTES - 1, (byte) number);
        return mad;
    }

    private static CmAgent manager(Pair.End end) {
        return ((RoceKind) end.context.kind()).cm();
    }

    private static int number(MemorySegment mad) {
        return mad.get(ValueLayout.JAVA_BYTE, Mad.BYTES - 1);
    }

    private long count(Pair.End end, PacketFate fate) {
        return end.context.counters().get(fate.label());
    }

    /// Records the datagrams that it receives.
    private static final class Notes implements ManagementAgent {
        final List<String> all = new ArrayList<>();
        long deadline = Long.MAX_VALUE;

        @Override
        public void onMad(MemorySegment mad, Gid local, Gid remote, long nowNanos) {
            assertThat(mad.byteSize()).isEqualTo(Mad.BYTES);
            all.add(number(mad) + " from " + remote + " to " + local);
        }

        @Override
        public long deadlineNanos() {
            return deadline;
        }

        @Override
        public void onDeadline(long nowNanos) {
            all.add("deadline");
            deadline = Long.MAX_VALUE;
        }
    }

    @Test
    void anAgentGetsTheDatagramsOfItsClass() {
        var notes = new Notes();
        pair.b.context.manage(CLASS, notes);
        ManagementPort port = pair.a.context.manage(CLASS, new Notes());
        port.send(mad(CLASS, 1), A, B);
        port.send(mad(CLASS + 1, 2), A, B);
        port.send(mad(CLASS, 3), A, B);
        pair.settle();
        assertThat(notes.all).containsExactly("1 from 10.0.0.1 to 10.0.0.2", "3 from 10.0.0.1 to 10.0.0.2");
        assertThat(count(pair.b, PacketFate.ACCEPTED)).isEqualTo(2);
        assertThat(count(pair.b, PacketFate.DROPPED_MANAGEMENT)).isEqualTo(1);
    }

    @Test
    void anAgentMayAnswerAtOnce() {
        var notes = new Notes();
        var port = new ManagementPort[1];
        port[0] = pair.b.context.manage(
                CLASS, (mad, local, remote, _) -> port[0].send(mad(CLASS, number(mad) + 1), local, remote));
        pair.a.context.manage(CLASS, notes).send(mad(CLASS, 7), A, B);
        pair.settle();
        assertThat(notes.all).containsExactly("8 from 10.0.0.2 to 10.0.0.1");
    }

    @Test
    void withoutAnAgentNothingIsTaken() {
        ManagementPort port = pair.a.context.manage(CLASS, new Notes());
        port.send(mad(CLASS, 1), A, B);
        pair.settle();
        assertThat(count(pair.b, PacketFate.DROPPED_UNKNOWN_QP)).isEqualTo(1);

        var notes = new Notes();
        ManagementPort there = pair.b.context.manage(CLASS, notes);
        port.send(mad(CLASS, 2), A, B);
        pair.settle();
        there.close();
        port.send(mad(CLASS, 3), A, B);
        pair.settle();
        assertThat(notes.all).containsExactly("2 from 10.0.0.1 to 10.0.0.2");
        assertThat(count(pair.b, PacketFate.DROPPED_UNKNOWN_QP)).isEqualTo(2);

        pair.b.context.manage(CLASS, notes);
        port.send(mad(CLASS, 4), A, B);
        pair.settle();
        assertThat(notes.all).hasSize(2);
    }

    @Test
    void aClassHasOneAgent() {
        ManagementPort port = pair.a.context.manage(CLASS, new Notes());
        assertThatThrownBy(() -> pair.a.context.manage(CLASS, new Notes()))
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("management class 0x09 has an agent already");
        port.close();
        pair.a.context.manage(CLASS, new Notes()).close();

        manager(pair.a);
        assertThatThrownBy(() -> pair.a.context.manage(Mad.CLASS_CM, new Notes()))
                .isInstanceOf(InvalidStateException.class);
        pair.b.context.manage(Mad.CLASS_CM, new Notes());
        assertThatThrownBy(() -> manager(pair.b)).isInstanceOf(InvalidStateException.class);
    }

    @Test
    void subnetManagementIsNotForQueuePairOne() {
        for (int no : new int[] {-1, 0, 0x01, 0x81, 0x100}) {
            assertThatThrownBy(() -> pair.a.context.manage(no, new Notes()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("manage: class:");
        }
    }

    @Test
    void aDatagramHas256Bytes() {
        ManagementPort port = pair.a.context.manage(CLASS, new Notes());
        assertThatThrownBy(() -> port.send(MemorySegment.ofArray(new byte[255]), A, B))
                .hasMessage("mad: a management datagram has 256 bytes, got 255");
    }

    @Test
    void anOpenAgentKeepsTheContextOpen() {
        ManagementPort port = pair.a.context.manage(CLASS, new Notes());
        pair.a.qp.close();
        pair.a.memory.close();
        pair.a.cq.close();
        pair.a.domain.close();
        assertThatThrownBy(pair.a.context::close)
                .isInstanceOf(InUseException.class)
                .hasMessageContaining("agent of management class 0x09");
        port.close();
        pair.a.context.close();
        assertThatThrownBy(() -> port.send(mad(CLASS, 1), A, B)).isInstanceOf(InvalidStateException.class);
    }

    @Test
    void whatIsNoManagementDatagramIsCountedAndDropped() {
        var notes = new Notes();
        pair.b.context.manage(CLASS, notes);
        arrives(Opcode.UD_SEND_ONLY, 255, Mad.QKEY, Mad.QPN, 0xFFFF);
        arrives(Opcode.UD_SEND_ONLY, 0, Mad.QKEY, Mad.QPN, 0xFFFF);
        arrives(Opcode.UD_SEND_ONLY, 257, Mad.QKEY, Mad.QPN, 0xFFFF);
        arrives(Opcode.UD_SEND_ONLY_IMMEDIATE, 256, Mad.QKEY, Mad.QPN, 0xFFFF);
        assertThat(count(pair.b, PacketFate.DROPPED_MANAGEMENT)).isEqualTo(4);
        arrives(Opcode.UD_SEND_ONLY, 256, 0x1234, Mad.QPN, 0xFFFF);
        assertThat(count(pair.b, PacketFate.DROPPED_QKEY)).isEqualTo(1);
        arrives(Opcode.UD_SEND_ONLY, 256, Mad.QKEY, 0x77, 0xFFFF);
        assertThat(count(pair.b, PacketFate.DROPPED_SOURCE)).isEqualTo(1);
        arrives(Opcode.UD_SEND_ONLY, 256, Mad.QKEY, Mad.QPN, 0x8123);
        assertThat(count(pair.b, PacketFate.DROPPED_PKEY)).isEqualTo(1);
        arrives(Opcode.RC_SEND_ONLY, 256, 0, 0, 0xFFFF);
        assertThat(count(pair.b, PacketFate.DROPPED_WRONG_SERVICE)).isEqualTo(1);
        assertThat(notes.all).isEmpty();
        arrives(Opcode.UD_SEND_ONLY, 256, Mad.QKEY, Mad.QPN, 0x7FFF);
        assertThat(notes.all).as("a limited member is in the same partition").hasSize(1);
    }

    private void arrives(Opcode opcode, int bytes, int qkey, int sourceQpn, int pkey) {
        Bth.write(frame.slot, frame.start, opcode, false, Packet.padCount(bytes), pkey, Mad.QPN, true, 0);
        if (opcode.dethOffset() >= 0) {
            Deth.write(frame.slot, frame.start + opcode.dethOffset(), qkey, sourceQpn);
        }
        MemorySegment mad = mad(CLASS, 0);
        MemorySegment.copy(mad, 0, frame.slot, Packet.payloadOffset(frame, opcode), Mad.BYTES);
        frame.length = Packet.length(opcode, bytes);
        frame.icrcValid = true;
        frame.sourceHigh = A.high();
        frame.sourceLow = A.low();
        frame.destinationHigh = B.high();
        frame.destinationLow = B.low();
        pair.b.wire.deliver(frame);
        pair.settle();
    }

    @Test
    void anAgentIsCalledAtItsDeadline() {
        var notes = new Notes();
        ManagementPort port = pair.a.context.manage(CLASS, notes);
        notes.deadline = pair.clock.nanos + 5_000;
        port.send(mad(CLASS, 1), A, B);
        pair.settleWithin(4_999);
        assertThat(notes.all).isEmpty();
        pair.settleWithin(5_000);
        assertThat(notes.all).containsExactly("deadline");
    }

    @Test
    void whatDoesNotLeaveDoesNotPileUp() {
        ManagementPort port = pair.a.context.manage(CLASS, new Notes());
        pair.a.wire.room = 0;
        for (int i = 0; i < 20_000; i++) {
            port.send(mad(CLASS, i), A, B);
        }
        assertThat(pair.a.context.engine().counters().get(Counter.MANAGEMENT_OVERFLOWS))
                .isBetween(3_000L, 4_000L);
    }

    @Test
    void whatIsReadyStillLeavesWhenTheContextIsClosed() {
        var notes = new Notes();
        pair.b.context.manage(CLASS, notes);
        ManagementPort port = pair.a.context.manage(CLASS, new Notes());
        pair.a.qp.close();
        pair.a.memory.close();
        pair.a.cq.close();
        pair.a.domain.close();
        for (int i = 0; i < 100; i++) {
            port.send(mad(CLASS, i), A, B);
        }
        port.close();
        pair.a.context.close();
        pair.settle();
        assertThat(notes.all).hasSize(100);
    }

    @Test
    void connectionManagersTalkToEachOther() {
        var told = new ArrayList<String>();
        CmAgent a = manager(pair.a);
        CmAgent b = manager(pair.b);
        long service = IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, 7471);
        b.call(manager -> manager.listen(service, 1, (connection, event) -> {
            told.add("b " + event.getClass().getSimpleName());
            if (event instanceof CmEvent.Requested) {
                connection.accept(new CmEnd(2, 0, 1, 1, 7, false, CmExtension.NONE, PrivateData.NONE), b.nowNanos());
            }
        }));
        CmConnection connection = a.call(manager -> Objects.requireNonNull(manager.connect(
                new CmRoute(A, B),
                new CmCall(service, 0, 3, 14, 7, 0, 64, 0, 20, 15),
                new CmEnd(1, 0, 1, 1, 7, false, CmExtension.NONE, PrivateData.NONE),
                (made, event) -> {
                    told.add("a " + event.getClass().getSimpleName());
                    if (event instanceof CmEvent.Accepted) {
                        made.ready(PrivateData.NONE, a.nowNanos());
                    }
                },
                a.nowNanos())));
        pair.settle();
        assertThat(told).containsExactly("b Requested", "a Accepted", "a Established", "b Established");
        a.call(_ -> {
            connection.disconnect(PrivateData.NONE, a.nowNanos());
            return true;
        });
        pair.settle();
        assertThat(told).endsWith("b Disconnected", "a Disconnected");
        pair.settleWithin(60_000_000_000L);
        assertThat((int) a.call(manager -> manager.size())).isZero();
        assertThat((int) b.call(manager -> manager.size())).isZero();
    }
}
