package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.nic.device.DeviceContext;
import verbena.nic.device.SoftQueuePair;
import verbena.nic.roce.LinkDevice;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.verbs.AsyncEvent;
import verbena.verbs.DeviceException;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// How packets are dispatched, counted and scheduled, in virtual time.
class EngineTest {
    private final Pair pair = Pair.connected();
    private final Pair.End a = pair.a;
    private final Pair.End b = pair.b;
    private final Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES))[0];

    @AfterEach
    void close() {
        pair.close();
    }

    private void send(Opcode opcode, int qpn) {
        Bth.write(frame.slot, frame.start, opcode, false, 0, 0xFFFF, qpn, true, 0);
        frame.length = Packet.length(opcode, 0);
        frame.icrcValid = true;
    }

    private long count(Pair.End end, PacketFate fate) {
        return end.context.counters().get(fate.label());
    }

    @Test
    void whatIsNoPacketIsCountedAndDropped() {
        send(Opcode.RC_SEND_ONLY, b.qp.qpn());
        frame.length = 12;
        b.wire.deliver(frame);
        pair.settle();
        assertThat(count(b, PacketFate.DROPPED_MALFORMED)).isEqualTo(1);
    }

    @Test
    void aWrongIcrcIsCountedAndDropped() {
        send(Opcode.RC_SEND_ONLY, b.qp.qpn());
        frame.icrcValid = false;
        b.wire.deliver(frame);
        pair.settle();
        assertThat(count(b, PacketFate.DROPPED_ICRC)).isEqualTo(1);
    }

    @Test
    void packetsForUnknownNumbersAreCountedAndDropped() {
        for (int qpn : new int[] {0, 1, 0xFFFFFF, b.qp.qpn() ^ 0x10}) {
            send(Opcode.RC_SEND_ONLY, qpn);
            b.wire.deliver(frame);
        }
        pair.settle();
        assertThat(count(b, PacketFate.DROPPED_UNKNOWN_QP)).isEqualTo(4);
    }

    @Test
    void packetsOfAnotherServiceAreCountedAndDropped() {
        for (Opcode opcode : List.of(Opcode.UC_SEND_ONLY, Opcode.UD_SEND_ONLY)) {
            send(opcode, b.qp.qpn());
            b.wire.deliver(frame);
        }
        pair.settle();
        assertThat(count(b, PacketFate.DROPPED_WRONG_SERVICE)).isEqualTo(2);
    }

    @Test
    void packetsForAClosedQueuePairAreCountedAndDropped() {
        a.qp.postWrite(1, a.memory.slice(0, 8), b.memory.remote());
        b.qp.close();
        pair.settle();
        assertThat(count(b, PacketFate.DROPPED_CLOSED_QP)).isEqualTo(1);
    }

    @Test
    void whatWasPostedLeavesBeforeItsQueuePairIsClosed() {
        a.qp.postWrite(1, a.memory.slice(0, 8), b.memory.remote());
        a.qp.close();
        pair.settle();
        assertThat(b.context.counters().get("received.packets")).isEqualTo(1);
    }

    @Test
    void aThousandGuessesAtOnceAreNoticedAndReportedOnceInTenSeconds() {
        for (int i = 0; i < 999; i++) {
            guess(i);
        }
        assertThat(searches()).isZero();
        guess(999);
        assertThat(searches()).isEqualTo(1);
        for (int i = 0; i < 5_000; i++) {
            guess(i);
        }
        assertThat(searches()).isEqualTo(1);
        pair.clock.nanos += 10_000_000_000L;
        guess(1);
        assertThat(searches()).as("the search never stopped").isEqualTo(2);
    }

    @Test
    void straysNowAndThenAreNoSearch() {
        for (int i = 0; i < 10_000; i++) {
            guess(i);
            pair.clock.nanos += 10_000_000;
        }
        assertThat(searches()).isZero();
    }

    @Test
    void whatComesTooLateIsNoSearch() {
        int closed = b.qp.qpn();
        b.qp.close();
        for (int i = 0; i < 5_000; i++) {
            send(Opcode.RC_SEND_ONLY, closed);
            b.wire.deliver(frame);
        }
        pair.settle();
        assertThat(count(b, PacketFate.DROPPED_CLOSED_QP)).isEqualTo(5_000);
        assertThat(searches()).isZero();
    }

    private void guess(int number) {
        send(Opcode.RC_SEND_ONLY, b.qp.qpn() ^ (number + 1));
        b.wire.deliver(frame);
        pair.settle();
    }

    private long searches() {
        return b.context.engine().counters().get(Counter.SEARCHES);
    }

    @Test
    void everyPacketHasOneFate() {
        var random = new Random(42);
        a.wire.loses = _ -> random.nextInt(10) == 0;
        b.wire.loses = _ -> random.nextInt(10) == 0;
        for (int i = 0; i < 100; i++) {
            a.qp.postWrite(i, a.memory.slice(0, 5_000), b.memory.remote());
            send(Opcode.RC_SEND_ONLY, random.nextInt(1 << 24));
            frame.icrcValid = random.nextBoolean();
            b.wire.deliver(frame);
        }
        pair.settleWithin(Duration.ofSeconds(60).toNanos());
        assertThat(a.completions()).hasSize(100).allMatch(c -> c.endsWith(" SUCCESS"));
        for (Pair.End end : List.of(a, b)) {
            Map<String, Long> counters = end.context.counters();
            long fates = 0;
            for (PacketFate fate : PacketFate.values()) {
                fates += counters.get(fate.label());
            }
            assertThat(fates).isEqualTo(counters.get("received.packets"));
        }
    }

    @Test
    void whatTheWayOutDidNotTakeGoesFirstTheNextTime() {
        a.wire.room = 3;
        a.qp.postWrite(1, a.memory.slice(0, Pair.MEMORY_BYTES), b.memory.remote());
        pair.settle();
        assertThat(a.completions()).containsExactly("1 SUCCESS");
        assertThat(count(b, PacketFate.OUT_OF_SEQUENCE)).isZero();
        assertThat(a.context.counters().get("sent.packets")).isEqualTo(16);
    }

    @Test
    void aFullWayOutIsTriedAgainSoon() {
        a.wire.room = 0;
        a.qp.postWrite(1, a.memory.slice(0, 8), b.memory.remote());
        pair.settle();
        assertThat(a.context.deadlineNanos()).isBetween(pair.clock.nanos, pair.clock.nanos + 1_000_000);
        a.wire.room = 64;
        pair.settle();
        assertThat(a.completions()).containsExactly("1 SUCCESS");
    }

    @Test
    void queuePairsTakeTurns() {
        for (int i = 0; i < 16; i++) { // the window to b grows
            a.qp.postWrite(i, a.memory.slice(0, Pair.MEMORY_BYTES), b.memory.remote());
        }
        pair.settleWithin(Duration.ofSeconds(1).toNanos());
        var senders = new ArrayList<QueuePair>();
        var pairs = new ArrayList<QueuePair>();
        for (int i = 0; i < 3; i++) {
            QueuePair here = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
            QueuePair there = b.domain.createQueuePair(QueuePairOptions.rc(b.cq));
            here.connect(there.endpoint());
            there.connect(here.endpoint());
            pairs.add(there);
            senders.add(here);
        }
        pair.settle();
        for (QueuePair here : senders) {
            here.postWrite(1, a.memory.slice(0, Pair.MEMORY_BYTES), b.memory.remote());
            here.postWrite(2, a.memory.slice(0, Pair.MEMORY_BYTES), b.memory.remote());
        }
        var order = new ArrayList<Integer>();
        a.wire.loses = sent -> {
            order.add(Bth.destinationQp(sent.slot, sent.start));
            return false;
        };
        a.context.drive();
        assertThat(order).hasSize(64);
        // 16 packets of each, in the order of the doorbells, and then again from the first.
        for (int i = 0; i < 64; i++) {
            assertThat(order.get(i)).isEqualTo(pairs.get(i / 16 % 3).qpn());
        }
    }

    /// Sends of `b`: an acknowledgement and, behind it, a request that breaks the queue pair of `a`.
    private List<Opcode> acknowledgeAndBreak() {
        var sent = new ArrayList<Opcode>();
        b.wire.loses = packet -> {
            sent.add(Packet.opcode(packet));
            return false;
        };
        a.qp.postWrite(1, a.memory.slice(0, 8), b.memory.remote());
        a.context.drive();
        b.context.drive();
        b.qp.postWrite(2, b.memory.slice(0, 8), new RemoteMemory(a.memory.address(), ~a.memory.rkey(), 8));
        pair.settle();
        return sent;
    }

    @Test
    void anAcknowledgementLeavesBehindARequestInOneMessageAndIsHeardBeforeIt() {
        b.wire.keepsTogether = true;
        assertThat(acknowledgeAndBreak()).startsWith(Opcode.RC_WRITE_ONLY, Opcode.RC_ACKNOWLEDGE);
        assertThat(b.completions()).containsExactly("2 REM_ACCESS_ERR");
        assertThat(a.completions()).as("the message had arrived").containsExactly("1 SUCCESS");
    }

    @Test
    void anAcknowledgementLeavesBeforeARequestWhenTheyAreTwoMessages() {
        assertThat(acknowledgeAndBreak()).startsWith(Opcode.RC_ACKNOWLEDGE, Opcode.RC_WRITE_ONLY);
        assertThat(b.completions()).containsExactly("2 REM_ACCESS_ERR");
        assertThat(a.completions()).containsExactly("1 SUCCESS");
    }

    @Test
    void nothingIsDueOnAnIdleDevice() {
        pair.settleWithin(Duration.ofSeconds(60).toNanos());
        assertThat(a.context.drive()).isFalse();
        assertThat(a.context.deadlineNanos()).isEqualTo(Long.MAX_VALUE);
        a.qp.postWrite(1, a.memory.slice(0, 8), b.memory.remote());
        assertThat(a.context.deadlineNanos()).as("a doorbell has rung").isLessThanOrEqualTo(pair.clock.nanos);
    }

    /// Two more queue pairs, connected to each other.
    private QueuePair another() {
        QueuePair here = a.domain.createQueuePair(QueuePairOptions.rc(a.cq));
        QueuePair there = b.domain.createQueuePair(QueuePairOptions.rc(b.cq));
        here.connect(there.endpoint());
        there.connect(here.endpoint());
        return here;
    }

    private static SoftQueuePair soft(QueuePair qp) {
        return (SoftQueuePair) qp;
    }

    private void bothDevicesStillWork(QueuePair another) {
        assertThat(b.context.engine().failure()).isNull();
        another.postWrite(9, a.memory.slice(0, 8), b.memory.remote());
        pair.settle();
        assertThat(a.completions()).contains("9 SUCCESS");
    }

    @Test
    void aMistakeOfOursAtAPacketEndsItsQueuePairOnly() {
        QueuePair another = another();
        soft(b.qp).firstPacketListener(_ -> {
            throw new IllegalStateException("planted");
        });
        b.qp.postReceive(5, b.memory.slice(0, 100));
        a.qp.postSend(1, a.memory.slice(0, 8));
        pair.settle();
        assertThat(b.qp.state()).isEqualTo(QpState.ERR);
        assertThat(b.completions()).containsExactly("5 WR_FLUSH_ERR");
        assertThat(b.events()).contains(AsyncEvent.Type.QP_FATAL);
        assertThat(soft(b.qp).rootCause()).contains("internal error", "planted");
        assertThat(b.context.engine().counters().get(Counter.CONTAINED_FAILURES))
                .isEqualTo(1);
        bothDevicesStillWork(another);
    }

    @Test
    void aQueuePairWhoseEndFailsTooIsNotCalledAnyMore() {
        QueuePair another = another();
        soft(b.qp).firstPacketListener(_ -> {
            throw new IllegalStateException("planted");
        });
        soft(b.qp).failureListener(_ -> {
            throw new IllegalStateException("planted too");
        });
        a.qp.postWrite(1, a.memory.slice(0, 8), b.memory.remote());
        pair.settleWithin(Duration.ofSeconds(60).toNanos());
        assertThat(a.completions()).containsExactly("1 RETRY_EXC_ERR");
        assertThat(b.context.engine().counters().get(Counter.CONTAINED_FAILURES))
                .isEqualTo(2);
        bothDevicesStillWork(another);
        b.qp.close();
    }

    @Test
    void aFailedCommandStopsNothingElse() {
        QueuePair another = another();
        b.context.engine().later(() -> {
            throw new IllegalStateException("planted");
        });
        pair.settle();
        assertThat(b.context.engine().counters().get(Counter.CONTAINED_FAILURES))
                .isEqualTo(1);
        bothDevicesStillWork(another);
    }

    @Test
    void whatArrivedWhileTheProcessStoodStillIsLookedAtBeforeTimersRunOut() {
        for (int i = 0; i < 64; i++) {
            a.qp.postWrite(i, a.memory.slice(0, 8), b.memory.remote());
        }
        a.context.drive();
        while (b.context.drive()) {
            // until all is answered
        }
        pair.clock.nanos += Duration.ofHours(1).toNanos();
        pair.settle();
        assertThat(a.completions()).hasSize(64).allMatch(c -> c.endsWith(" SUCCESS"));
        assertThat(a.context.counters().get("ack.timeouts")).isZero();
        assertThat(a.context.counters().get("retransmitted.packets")).isZero();
    }

    @Test
    void whatTheLinkHasNotBroughtYetIsLookedAtBeforeTimersRunOut() {
        QueuePair another = another();
        a.wire.brings = 0;
        for (QueuePair qp : List.of(another, a.qp)) {
            qp.postWrite(1, a.memory.slice(0, 8), b.memory.remote());
            a.context.drive();
            while (b.context.drive()) {
                // until it is answered
            }
        }
        a.wire.brings = 1;
        pair.clock.nanos += Duration.ofHours(1).toNanos();
        pair.settle();
        assertThat(a.completions()).hasSize(2).allMatch(c -> c.endsWith(" SUCCESS"));
        assertThat(a.context.counters().get("ack.timeouts")).isZero();
        assertThat(a.context.counters().get("retransmitted.packets")).isZero();
    }

    @Test
    void aBrokenDeviceSaysSoAndCanBeClosed() throws InterruptedException {
        var wire = new Wire("10.0.0.3", new Wire.Clock());
        wire.broken = new IllegalStateException("the wire is cut");
        DeviceContext context = (DeviceContext) LinkDevice.open("cut", wire, System::nanoTime, new Random(1), true);
        assertThat(context.awaitAsyncEvent(Duration.ofSeconds(20)))
                .map(AsyncEvent::type)
                .contains(AsyncEvent.Type.DEVICE_FATAL);
        var cq = context.createCompletionQueue(1);
        assertThatThrownBy(() -> cq.await(new WorkCompletion(), Duration.ofSeconds(20)))
                .isInstanceOf(DeviceException.class)
                .hasMessage("await: device cut has failed")
                .hasRootCauseMessage("the wire is cut");
        cq.close();
        context.close();
        assertThat(wire.closed).isTrue();
    }

    @Test
    void connectionsHearThatTheirDeviceHasFailed() throws InterruptedException {
        var wire = new Wire("10.0.0.3", new Wire.Clock());
        DeviceContext context = (DeviceContext) LinkDevice.open("cut", wire, System::nanoTime, new Random(1), true);
        try (var channel = EventChannel.open(context)) {
            ConnectionId listener = channel.createId(PortSpace.TCP);
            listener.bind(new InetSocketAddress(context.gid(1, 0).gid().address(), 7471));
            listener.listen(1);
            context.engine().call(() -> wire.broken = new IllegalStateException("the wire is cut"));
            wire.wakeup();
            assertThat(channel.await(Duration.ofSeconds(20)))
                    .contains(new ConnectionEvent.DeviceRemoval(
                            listener, "device cut has failed: java.lang.IllegalStateException: the wire is cut"));
            ConnectionId late = channel.createId(PortSpace.TCP);
            late.bind(new InetSocketAddress(context.gid(1, 0).gid().address(), 0));
            assertThat(channel.poll()).map(ConnectionEvent::id).contains(late);
            late.close();
            listener.close();
        }
        context.close();
    }
}
