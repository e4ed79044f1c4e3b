package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.nic.GoalRun;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVersion;
import verbena.wire.roce.RoceV2;

/// The attacks of [AttacksTest]. The attacker knows every number of a connection, its keys of memory, and SPI and IV
/// of what is on the wire, but not the keys of PSP. In virtual time: nothing succeeds.
class ProtectedAttacksTest {
    private static final int TRIES = GoalRun.size(2_000, 100_000);
    private static final int PRIZE_AT = 8;

    private final Cable cable = Cable.withPsp(GoalRun.seed());
    private final Random random = new Random(GoalRun.seed());
    private final WorkCompletion wc = new WorkCompletion();
    /// The last protected packets of each end.
    private final List<byte[]> fromA = new ArrayList<>();
    private final List<byte[]> fromB = new ArrayList<>();

    @BeforeEach
    void connect() {
        cable.connect();
        cable.a.tap = frame -> fromA.add(frame.packet().toArray(ValueLayout.JAVA_BYTE));
        cable.b.tap = frame -> fromB.add(frame.packet().toArray(ValueLayout.JAVA_BYTE));
        assertThat(write()).isEqualTo(WcStatus.SUCCESS);
    }

    private WcStatus write() {
        cable.a.qp.postWrite(1, cable.a.memory.slice(0, 8), cable.b.memory.remote());
        cable.pass(1_000_000_000);
        assertThat(cable.a.cq.poll(wc)).isTrue();
        return wc.status();
    }

    /// What would do something at the passive end, with the PSN that it expects.
    private List<String> toPassive() {
        int psn = cable.b.qp.query().receiving().rqPsn();
        int qpn = cable.b.qp.qpn();
        String target =
                "qp 0x%x va 0x%x rkey 0x%x".formatted(qpn, cable.b.memory.address() + PRIZE_AT, cable.b.memory.rkey());
        return List.of(
                "WRITE_ONLY psn %d %s len 8 | 8".formatted(psn, target),
                "READ_REQUEST psn %d %s len 8".formatted(psn, target),
                "FETCH_ADD psn %d %s add 1".formatted(psn, target),
                "SEND_ONLY psn %d qp 0x%x | 8".formatted(psn, qpn),
                "WRITE_ONLY psn %d qp 0x%x va 0 rkey 0x1 len 8 | 8".formatted(psn, qpn),
                "UD_SEND_ONLY psn 1 qp 1 qkey 0x80010000 srcqp 1 | 256");
    }

    /// What would end or slow the active end.
    private List<String> toActive() {
        int psn = cable.a.qp.query().sending().sqPsn();
        int qpn = cable.a.qp.qpn();
        return List.of(
                "ACK psn %d qp 0x%x msn 1".formatted(psn, qpn),
                "NAK access psn %d qp 0x%x msn 1".formatted(psn, qpn),
                "READ_RESPONSE_ONLY psn %d qp 0x%x msn 1 | 8".formatted(psn, qpn),
                "CNP psn 0 qp 0x%x becn | 16".formatted(qpn));
    }

    private void assertUnharmed() {
        assertThat(cable.b.memory.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, PRIZE_AT))
                .isZero();
        assertThat(cable.a.qp.state()).isEqualTo(QpState.RTS);
        assertThat(cable.b.qp.state()).isEqualTo(QpState.RTS);
        assertThat(cable.b.cq.poll(wc)).isFalse();
        assertThat(cable.a.cq.poll(wc)).isFalse();
        assertThat(write()).isEqualTo(WcStatus.SUCCESS);
    }

    @Test
    void plainPacketsWithAllNumbersDoNothing() {
        long tries = 0;
        for (int i = 0; i < TRIES / 10; i++) {
            for (String packet : toPassive()) {
                cable.b.inject(packet);
                tries++;
            }
            for (String packet : toActive()) {
                cable.a.inject(packet);
                tries++;
            }
            cable.settle();
        }
        assertUnharmed();
        assertThat(cable.a.count("psp.dropped.plain") + cable.b.count("psp.dropped.plain"))
                .isEqualTo(tries);
        GoalRun.print("S5", tries + " plain packets with all numbers to ends with psp=on: 0 did anything");
    }

    /// With the header of PSP that the victim expects next, and anything as ICV.
    @Test
    void sealedWithoutTheKeyTheyDoNothing() {
        long tries = 0;
        for (int i = 0; i < TRIES / 10; i++) {
            for (String packet : toPassive()) {
                forge(cable.b, packet, fromA.getLast());
                tries++;
            }
            for (String packet : toActive()) {
                forge(cable.a, packet, fromB.getLast());
                tries++;
            }
            cable.settle();
        }
        assertUnharmed();
        assertThat(cable.a.count("psp.dropped.forged") + cable.b.count("psp.dropped.forged"))
                .isEqualTo(tries);
        GoalRun.print("S5", tries + " packets with SPI and IV, without the key: 0 did anything");
    }

    /// All that was ever on the wire, in any order, to either end.
    @Test
    void whatWasOnTheWireDoesNothingASecondTime() {
        for (int i = 0; i < 200; i++) {
            assertThat(write()).isEqualTo(WcStatus.SUCCESS);
        }
        var recorded = new ArrayList<>(fromA);
        recorded.addAll(fromB);
        long before = cable.b.context.counters().getOrDefault("received.packets", 0L);
        for (int i = 0; i < TRIES; i++) {
            put(random.nextBoolean() ? cable.a : cable.b, recorded.get(random.nextInt(recorded.size())));
            cable.settle();
        }
        assertThat(cable.b.context.counters().getOrDefault("received.packets", 0L))
                .isEqualTo(before);
        assertUnharmed();
        GoalRun.print("S5", TRIES + " recorded packets, to both ends: 0 were taken again");
    }

    private void forge(Cable.End at, String packet, byte[] model) {
        Frame frame = at.arrival();
        at.write(frame, packet);
        byte[] text = frame.packet().toArray(ValueLayout.JAVA_BYTE);
        byte[] forged = new byte[PspHeader.BYTES + RoceV2.UDP_BYTES + text.length + PspHeader.ICV_BYTES];
        random.nextBytes(forged);
        MemorySegment into = MemorySegment.ofArray(forged);
        MemorySegment seen = MemorySegment.ofArray(model);
        PspHeader.write(
                into,
                0,
                RoceV2.PROTOCOL_UDP,
                0,
                PspVersion.AES_GCM_128,
                PspHeader.spi(seen, 0),
                PspHeader.iv(seen, 0) + 1 + random.nextInt(100));
        BigEndian.put32(into, PspHeader.BYTES, RoceV2.UDP_PORT << 16 | RoceV2.UDP_PORT);
        BigEndian.put32(into, PspHeader.BYTES + 4, (RoceV2.UDP_BYTES + text.length) << 16);
        MemorySegment.copy(text, 0, into, ValueLayout.JAVA_BYTE, PspHeader.BYTES + RoceV2.UDP_BYTES, text.length);
        fill(frame, forged);
    }

    private static void put(Cable.End at, byte[] packet) {
        Frame frame = at.arrival();
        at.write(frame, "ACK psn 1 qp 1 msn 1"); // for its addresses
        fill(frame, packet);
    }

    private static void fill(Frame frame, byte[] packet) {
        MemorySegment.copy(packet, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, packet.length);
        frame.length = packet.length;
    }
}
