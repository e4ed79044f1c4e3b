package verbena.transport.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.wire.BigEndian;
import verbena.wire.psp.JdkPspCipher;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVerdict;
import verbena.wire.psp.PspVersion;

/// Two ends of an association in virtual time. Keys are drawn and handed to both; who agrees on them is another
/// matter.
class AssociationTest {
    private static final long SECOND = 1_000_000_000;
    private static final int UDP = 17;
    private static final int TEXT_BYTES = 40;
    private static final int TEXT_BYTES_MAX = 4_000;
    private static final int PACKET_BYTES = PspHeader.BYTES + TEXT_BYTES + PspHeader.ICV_BYTES;
    private static final Association.Limits LIMITS = new Association.Limits(
            1_000L * PACKET_BYTES, 2_000L * PACKET_BYTES, 120 * SECOND, 180 * SECOND, 10 * SECOND);

    private final byte[] scratch = new byte[4096];
    private final Random random = new Random(54);
    private final Association a = new Association(PspVersion.AES_GCM_128, 0, LIMITS);
    private final Association b = new Association(PspVersion.AES_GCM_128, 0, LIMITS);
    private int spis;
    private long now = -5 * SECOND; // a clock may begin anywhere

    private JdkPspCipher cipher(byte[] key) {
        return new JdkPspCipher(key, scratch);
    }

    private byte[] key() {
        byte[] key = new byte[16];
        random.nextBytes(key);
        return key;
    }

    /// What an agreement gives to both ends: a's keys, and b's.
    private List<Association.Keys> agree() {
        byte[] toA = key();
        byte[] toB = key();
        int spiOfA = ++spis;
        int spiOfB = 0x8000_0000 | ++spis;
        return List.of(
                new Association.Keys(spiOfB, cipher(toB), spiOfA, cipher(toA)),
                new Association.Keys(spiOfA, cipher(toA), spiOfB, cipher(toB)));
    }

    /// Agrees as an exchange does: b answers, and a has the answer.
    private void connect() {
        List<Association.Keys> keys = agree();
        b.offer(keys.get(1), now);
        a.install(keys.get(0), now);
    }

    private int seal(Association by, MemorySegment packet) {
        int text = (int) packet.byteSize() - PspHeader.BYTES - PspHeader.ICV_BYTES;
        return by.seal(packet, PspHeader.BYTES, text, packet, 0, UDP, now);
    }

    private MemorySegment seal(Association by, int number) {
        return seal(by, number, TEXT_BYTES);
    }

    private MemorySegment seal(Association by, int number, int textBytes) {
        MemorySegment packet = MemorySegment.ofArray(new byte[PspHeader.BYTES + textBytes + PspHeader.ICV_BYTES]);
        BigEndian.put32(packet, PspHeader.BYTES, number);
        assertThat(seal(by, packet)).isEqualTo((int) packet.byteSize());
        return packet;
    }

    private PspVerdict open(Association by, MemorySegment packet) {
        MemorySegment copy = MemorySegment.ofArray(packet.toArray(ValueLayout.JAVA_BYTE));
        return by.open(copy, 0, (int) copy.byteSize(), copy, PspHeader.BYTES, now);
    }

    @Test
    void withoutKeysNothingLeavesAndNothingIsTaken() {
        MemorySegment packet = MemorySegment.ofArray(new byte[PACKET_BYTES]);

        assertThat(a.wantsKeys(now)).isTrue();
        assertThat(seal(a, packet)).isEqualTo(Association.NO_KEYS);
        assertThat(a.unsealed()).isOne();
        assertThat(a.deadlineNanos()).isEqualTo(Association.NEVER);
        connect();
        assertThat(open(new Association(PspVersion.AES_GCM_128, 0, LIMITS), seal(a, 1)))
                .isEqualTo(PspVerdict.UNKNOWN);
    }

    @Test
    void theEndThatAnswersBeginsWhenItsAnswerIsKnownToHaveArrived() {
        connect();

        assertThat(seal(b, MemorySegment.ofArray(new byte[PACKET_BYTES]))).isEqualTo(Association.NO_KEYS);
        assertThat(open(b, seal(a, 1))).isEqualTo(PspVerdict.ACCEPTED);
        assertThat(open(a, seal(b, 2))).isEqualTo(PspVerdict.ACCEPTED);
        assertThat(b.count(PspVerdict.ACCEPTED)).isOne();
    }

    @Test
    void anAnswerThatIsLostLeavesTheOldKeysAtWork() {
        connect();
        assertThat(open(b, seal(a, 1))).isEqualTo(PspVerdict.ACCEPTED);
        b.offer(agree().get(1), now); // and a never hears of it

        for (int i = 0; i < 100; i++) {
            assertThat(open(a, seal(b, i))).isEqualTo(PspVerdict.ACCEPTED);
            assertThat(open(b, seal(a, i))).isEqualTo(PspVerdict.ACCEPTED);
            now += SECOND / 10;
        }
        assertThat(b.wantsKeys(now)).isFalse();
    }

    @Test
    void aForgeryUnderNewKeysDoesNotMakeThemWork() {
        connect();
        assertThat(open(b, seal(a, 1))).isEqualTo(PspVerdict.ACCEPTED);
        List<Association.Keys> keys = agree();
        b.offer(keys.get(1), now);
        MemorySegment forged = seal(a, 2);
        BigEndian.put32(forged, 4, keys.get(1).openingSpi());

        assertThat(open(b, forged)).isEqualTo(PspVerdict.FORGED);
        assertThat(PspHeader.spi(seal(b, 3), 0)).isNotEqualTo(keys.get(1).sealingSpi());
    }

    @Test
    void whatWasSentComesBackToItsSenderInVain() {
        connect();
        MemorySegment packet = seal(a, 1);
        assertThat(open(a, packet)).isEqualTo(PspVerdict.UNKNOWN);
        // Even when both ends have chosen the same SPI.
        byte[] toA = key();
        byte[] toB = key();
        a.install(new Association.Keys(7, cipher(toB), 7, cipher(toA)), now);
        assertThat(open(a, seal(a, 1))).isEqualTo(PspVerdict.FORGED);
    }

    @Test
    void oldKeysDieAfterTheOverlap() {
        connect();
        MemorySegment late = seal(a, 1);
        MemorySegment later = seal(a, 2);
        assertThat(open(b, seal(a, 3))).isEqualTo(PspVerdict.ACCEPTED);
        connect();
        assertThat(open(b, seal(a, 4))).isEqualTo(PspVerdict.ACCEPTED);
        long replaced = now;

        assertThat(b.deadlineNanos()).isEqualTo(replaced + LIMITS.overlapNanos());
        now = replaced + LIMITS.overlapNanos() - 1;
        b.onDeadline(now);
        assertThat(open(b, late)).isEqualTo(PspVerdict.ACCEPTED);
        assertThat(open(b, late)).isEqualTo(PspVerdict.REPEATED);
        now++;
        assertThat(open(b, later)).as("also before the deadline is served").isEqualTo(PspVerdict.UNKNOWN);
        b.onDeadline(now);
        assertThat(open(b, later)).isEqualTo(PspVerdict.UNKNOWN);
        assertThat(b.deadlineNanos()).isEqualTo(replaced + LIMITS.endNanos());
    }

    /// The end that has the answer cannot know when the other begins with the new keys.
    @Test
    void oldKeysLiveUntilThePeerSealsByTheNewOnes() {
        connect();
        assertThat(open(b, seal(a, 1))).isEqualTo(PspVerdict.ACCEPTED);
        connect();
        now += 60 * SECOND; // of silence at a
        a.onDeadline(now);
        assertThat(open(a, seal(b, 2))).isEqualTo(PspVerdict.ACCEPTED);
        MemorySegment old = seal(b, 3);
        assertThat(open(b, seal(a, 4))).isEqualTo(PspVerdict.ACCEPTED);
        assertThat(open(a, seal(b, 5))).isEqualTo(PspVerdict.ACCEPTED);
        now += LIMITS.overlapNanos();
        assertThat(open(a, old)).isEqualTo(PspVerdict.UNKNOWN);
    }

    @Test
    void keysThatAreNotRenewedEndByTime() {
        connect();
        long born = now;
        now = born + LIMITS.renewNanos() - 1;
        assertThat(a.wantsKeys(now)).isFalse();
        now++;
        assertThat(a.wantsKeys(now)).isTrue();
        assertThat(open(b, seal(a, 1))).isEqualTo(PspVerdict.ACCEPTED);
        now = born + LIMITS.endNanos();
        assertThat(seal(a, MemorySegment.ofArray(new byte[PACKET_BYTES]))).isEqualTo(Association.NO_KEYS);
        a.onDeadline(a.deadlineNanos());
        assertThat(a.deadlineNanos()).isEqualTo(Association.NEVER);
    }

    @Test
    void keysThatAreNotRenewedEndByBytes() {
        connect();
        for (int i = 0; i < LIMITS.endBytes() / PACKET_BYTES; i++) {
            assertThat(a.wantsKeys(now)).isEqualTo(i * (long) PACKET_BYTES >= LIMITS.renewBytes());
            assertThat(open(b, seal(a, i))).isEqualTo(PspVerdict.ACCEPTED);
        }
        assertThat(seal(a, MemorySegment.ofArray(new byte[PACKET_BYTES]))).isEqualTo(Association.NO_KEYS);
    }

    @Test
    void longPacketsUseKeysUpSooner() {
        connect();
        long left = LIMITS.renewBytes();
        for (int i = 0; left > 0; i++) {
            assertThat(a.wantsKeys(now)).isFalse();
            MemorySegment packet = seal(a, i, TEXT_BYTES_MAX);
            assertThat(open(b, packet)).isEqualTo(PspVerdict.ACCEPTED);
            left -= packet.byteSize();
        }
        assertThat(a.wantsKeys(now)).isTrue();
        assertThat(b.wantsKeys(now)).as("each end counts what it seals").isFalse();
        connect();
        assertThat(a.wantsKeys(now)).isFalse();
    }

    /// A packet on its way.
    private record Flight(long arrivesNanos, boolean isToB, MemorySegment packet) {}

    /// Packets of any length overtake each other by up to 8 s, and keys are renewed by bytes: none is lost, and no
    /// recorded one is taken again.
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void noPacketIsLostOverManyRotations(long seed) {
        var chance = new Random(seed);
        int longest = TEXT_BYTES + chance.nextInt(2 * TEXT_BYTES);
        var flights = new PriorityQueue<Flight>((x, y) -> Long.compare(x.arrivesNanos, y.arrivesNanos));
        var recorded = new ArrayList<Flight>();
        connect();
        assertThat(open(b, seal(a, 0))).isEqualTo(PspVerdict.ACCEPTED);
        int rotations = 0;
        long sent = 0;
        long accepted = 0;
        for (int i = 0; i < 20_000; i++) {
            now += chance.nextLong(SECOND / 50);
            a.onDeadline(now);
            b.onDeadline(now);
            if (a.wantsKeys(now) && flights.size() < 500) {
                connect();
                rotations++;
            }
            boolean isToB = chance.nextBoolean();
            MemorySegment packet = seal(isToB ? a : b, i, TEXT_BYTES + chance.nextInt(longest));
            var flight = new Flight(now + chance.nextLong(8 * SECOND), isToB, packet);
            sent++;
            flights.add(flight);
            recorded.add(flight);
            for (Flight next = flights.peek(); next != null && next.arrivesNanos <= now; next = flights.peek()) {
                assertThat(open(next.isToB ? b : a, next.packet)).isEqualTo(PspVerdict.ACCEPTED);
                accepted++;
                flights.remove();
            }
            if (i % 10 == 0) {
                Flight again = recorded.get(chance.nextInt(recorded.size()));
                if (!flights.contains(again)) {
                    assertThat(open(again.isToB ? b : a, again.packet))
                            .isIn(PspVerdict.REPEATED, PspVerdict.UNKNOWN, PspVerdict.OLD);
                }
            }
        }
        assertThat(rotations).isGreaterThan(5);
        assertThat(accepted + flights.size()).isEqualTo(sent);
        assertThat(a.unsealed() + b.unsealed()).isZero();
    }

    @Test
    void limitsThatCannotHoldAreRefused() {
        assertThatThrownBy(() -> new Association.Limits(2, 1, 1, 1, 0)).hasMessageContaining("renewBytes: ");
        assertThatThrownBy(() -> new Association.Limits(1, 1, 2, 1, 0)).hasMessageContaining("renewNanos: ");
        assertThatThrownBy(() -> new Association.Limits(1, 1, 1, 1, -1)).hasMessageContaining("overlapNanos: ");
    }
}
