package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.tap.Tap;
import verbena.transport.PacketFate;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Device;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.roce.RoceV2;

/// What a tap sees of the packets of a device.
class TapTest {
    /// Records what it is shown, as text that can be compared.
    private static final class Notes implements Tap {
        final List<String> lines = new ArrayList<>();
        final List<String> sent = new ArrayList<>();
        final List<String> received = new ArrayList<>();
        private final RoceV2 roce = new RoceV2();
        private long last = Long.MIN_VALUE;

        @Override
        public synchronized void onSent(Frame packet, long nanos) {
            note("sent " + opcode(packet), nanos);
            sent.add(bytes(packet));
            assertThat(roce.verify(packet)).as("ICRC of the sent packet").isTrue();
        }

        @Override
        public synchronized void onUnsendable(Frame packet, long nanos) {
            note("unsendable " + opcode(packet), nanos);
        }

        @Override
        public synchronized void onReceived(Frame packet, @Nullable PacketFate fate, long nanos) {
            note("received " + opcode(packet) + " " + fate, nanos);
            received.add(bytes(packet));
        }

        private void note(String line, long nanos) {
            assertThat(nanos).as("time does not go back").isGreaterThanOrEqualTo(last);
            last = nanos;
            lines.add(line);
        }

        private static Opcode opcode(Frame packet) {
            return Packet.opcode(packet);
        }

        /// Headers, a digest of all bytes, and the addresses.
        private static String bytes(Frame packet) {
            byte[] bytes = packet.packet().toArray(ValueLayout.JAVA_BYTE);
            return HexFormat.of().formatHex(bytes, 0, 16) + " " + bytes.length + " " + Arrays.hashCode(bytes)
                    + " %x%x -> %x%x"
                            .formatted(
                                    packet.sourceHigh, packet.sourceLow, packet.destinationHigh, packet.destinationLow);
        }
    }

    @Test
    void aWriteIsShownAtBothEndsWithWhatBecameOfEachPacket() {
        try (var pair = Pair.connected()) {
            var a = new Notes();
            var b = new Notes();
            pair.a.context.tap(a);
            pair.b.context.tap(b);
            pair.a.qp.postWrite(1, pair.a.memory.slice(0, 10_000), pair.b.memory.remote());
            pair.settle();

            assertThat(a.lines)
                    .containsExactly(
                            "sent RC_WRITE_FIRST",
                            "sent RC_WRITE_MIDDLE",
                            "sent RC_WRITE_LAST",
                            "received RC_ACKNOWLEDGE ACCEPTED");
            assertThat(b.lines)
                    .containsExactly(
                            "received RC_WRITE_FIRST ACCEPTED",
                            "received RC_WRITE_MIDDLE ACCEPTED",
                            "received RC_WRITE_LAST ACCEPTED",
                            "sent RC_ACKNOWLEDGE");
        }
    }

    @Test
    void whatIsReceivedIsShownBeforeItIsAnswered() {
        try (var pair = Pair.connected()) {
            var b = new Notes();
            pair.b.context.tap(b);
            for (int i = 0; i < 3; i++) {
                pair.a.qp.postRead(i, pair.b.memory.remote().slice(0, 8), pair.a.memory.slice(0, 8));
                pair.settle();
            }
            assertThat(b.lines)
                    .isEqualTo(List.of(
                            "received RC_READ_REQUEST ACCEPTED",
                            "sent RC_READ_RESPONSE_ONLY",
                            "received RC_READ_REQUEST ACCEPTED",
                            "sent RC_READ_RESPONSE_ONLY",
                            "received RC_READ_REQUEST ACCEPTED",
                            "sent RC_READ_RESPONSE_ONLY"));
        }
    }

    @Test
    void whatIsRefusedOrDamagedIsShownWithTheReason() {
        try (var pair = Pair.connected()) {
            var b = new Notes();
            pair.b.context.tap(b);
            int noKey = pair.b.memory.rkey() ^ 0x0100;
            pair.a.qp.postWrite(1, pair.a.memory.slice(0, 8), new RemoteMemory(pair.b.memory.address(), noKey, 8));
            pair.settle();
            assertThat(pair.a.completions()).containsExactly("1 " + WcStatus.REM_ACCESS_ERR);

            Frame damaged = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES))[0];
            damaged.length = 24;
            damaged.icrcValid = false;
            damaged.slot.set(ValueLayout.JAVA_BYTE, damaged.start, (byte) 0x04); // SEND_ONLY
            pair.b.wire.deliver(damaged);
            damaged.length = 17;
            pair.b.wire.deliver(damaged);
            pair.settle();

            assertThat(b.lines)
                    .containsExactly(
                            "received RC_WRITE_ONLY REFUSED",
                            "sent RC_ACKNOWLEDGE",
                            "received RC_SEND_ONLY DROPPED_ICRC",
                            "received RC_SEND_ONLY DROPPED_MALFORMED");
        }
    }

    @Test
    void aTapThatIsTakenOffIsShownNothingMoreAndOthersAre() {
        try (var pair = Pair.connected()) {
            var first = new Notes();
            var second = new Notes();
            var third = new Notes();
            pair.a.context.tap(first);
            pair.a.context.tap(second);
            pair.a.context.tap(third);
            write(pair);
            int known = second.lines.size();
            pair.a.context.untap(second);
            pair.a.context.untap(second);
            write(pair);
            pair.a.context.untap(first);
            pair.a.context.untap(third);
            write(pair);

            assertThat(known).isEqualTo(2);
            assertThat(second.lines).hasSize(2);
            assertThat(first.lines).isEqualTo(third.lines).hasSize(4);
            assertThat(pair.a.context.engine().link()).isSameAs(pair.a.wire);
        }
    }

    private static void write(Pair pair) {
        pair.a.qp.postWrite(1, pair.a.memory.slice(0, 8), pair.b.memory.remote());
        pair.settle();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "rocev2,link=portable", "rocev2,mtu=256"})
    void whatOneEndIsShownAsSentTheOtherIsShownAsReceivedToTheLastBit(String device) throws Exception {
        var a = new Notes();
        var b = new Notes();
        try (var from = new Real(device);
                var to = new Real("rocev2")) {
            from.queuePair.connect(to.queuePair.endpoint());
            to.queuePair.connect(from.queuePair.endpoint());
            from.context.tap(a);
            to.context.tap(b);
            from.memory.segment().fill((byte) 0x5A);
            from.queuePair.postFetchAdd(1, to.memory.remote(), 5, from.memory.slice(0, 8));
            from.await();
            from.queuePair.postFetchAdd(1, to.memory.remote(), 5, from.memory.slice(0, 8));
            from.await();
            for (int bytes : new int[] {0, 1, 4_096, 20_000}) {
                from.queuePair.postWrite(1, from.memory.slice(0, bytes), to.memory.remote());
                from.await();
                from.queuePair.postRead(1, to.memory.remote().slice(0, bytes), from.memory.slice(0, bytes));
                from.await();
            }
            from.context.untap(a);
            to.context.untap(b);
        }
        assertThat(a.sent).hasSizeGreaterThanOrEqualTo(8);
        // An acknowledgement may still be on its way when the last completion has come.
        assertThat(b.received).isEqualTo(a.sent.subList(0, b.received.size())).hasSizeGreaterThanOrEqualTo(8);
        // So may responses to a READ that was repeated because this host was slow.
        assertThat(a.received).isEqualTo(b.sent.subList(0, a.received.size())).hasSizeGreaterThanOrEqualTo(8);
    }

    @Test
    void aPacketThatFaultsHaveLostIsShownAsSentAndNeverAsReceived() throws Exception {
        var a = new Notes();
        var b = new Notes();
        try (var from = new Real("rocev2,link=portable,faults=loss:50%,on:sent,seed:3");
                var to = new Real("rocev2")) {
            from.queuePair.connect(to.queuePair.endpoint());
            to.queuePair.connect(from.queuePair.endpoint());
            from.context.tap(a);
            to.context.tap(b);
            for (int i = 0; i < 20; i++) {
                from.queuePair.postWrite(i, from.memory.slice(0, 100), to.memory.remote());
                from.await();
            }
            from.context.untap(a);
            to.context.untap(b);
            long lost = from.context.counters().get("faults.sent.lost");
            assertThat(lost).isPositive();
            assertThat(a.sent).hasSize(b.received.size() + (int) lost);
            assertThat(a.sent).containsAll(b.received);
        }
    }

    @Test
    void aPacketThatCanNeverBeSentIsShownAsThat() throws Exception {
        var notes = new Notes();
        try (var from = new Real("rocev2")) {
            // Packets from loopback to a network are not permitted.
            var own = from.queuePair.endpoint();
            from.queuePair.connect(
                    new Endpoint(Gid.parse("192.0.2.1"), own.gidType(), own.qpn(), own.psn(), own.mtu()));
            from.context.tap(notes);
            from.queuePair.postWrite(1, from.memory.slice(0, 8), new RemoteMemory(0, 0, 8));
            while (from.context.counters().get("unsendable") == 0) {
                from.cq.await(new WorkCompletion(), Duration.ofMillis(1));
            }
            from.context.untap(notes);
        }
        assertThat(notes.lines).isNotEmpty().containsOnly("unsendable RC_WRITE_ONLY");
    }

    /// A device with sockets, and one of everything.
    private static final class Real implements AutoCloseable {
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final QueuePair queuePair;
        final MemoryRegion memory;

        Real(String device) {
            context = (DeviceContext) Device.named(device).open();
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(16);
            queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
            memory = domain.allocate(20_000, Access.remoteAll());
        }

        void await() throws InterruptedException {
            var wc = new WorkCompletion();
            assertThat(cq.await(wc, Duration.ofSeconds(20))).isTrue();
            assertThat(wc.ok()).as(wc.toString()).isTrue();
        }

        @Override
        public void close() {
            queuePair.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }
}
