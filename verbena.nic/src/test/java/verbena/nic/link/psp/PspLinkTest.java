package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.LinkException;
import verbena.nic.link.psp.PspNet.Datagram;
import verbena.nic.link.psp.PspNet.End;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.psp.PspHeader;
import verbena.wire.roce.RoceV2;

/// Two devices with PSP in virtual time, and a wire that an attacker has.
class PspLinkTest {
    private static final byte[] OTHER_SECRET = Arrays.copyOf(new byte[] {1}, 32);

    /// The time after which keys are dead.
    private static final long LIFE_NANOS = 1_800 * PspNet.SECOND;

    private PspNet net = new PspNet();
    private End a = net.end("10.0.0.1", PspNet.SECRET, 1);
    private End b = net.end("10.0.0.2", PspNet.SECRET, 2);

    private void connect() {
        a.send(b.gid, 1);
        b.send(a.gid, 1);
        net.settle();
        assertThat(a.received).containsExactly(1);
        assertThat(b.received).containsExactly(1);
        a.received.clear();
        b.received.clear();
        net.seen.clear();
    }

    /// Sends a packet that does not arrive by itself.
    private Datagram caught(End from, End to, int number) {
        var one = new ArrayList<Datagram>();
        net.carrier = one::add;
        from.send(to.gid, number);
        net.settle();
        net.carrier = net::deliver;
        assertThat(one).hasSize(1);
        return one.getFirst();
    }

    /// Lets these arrive at an end; none is a packet for it.
    private void refuses(End at, Datagram... forged) {
        int before = at.received.size();
        for (Datagram one : forged) {
            at.arriving.add(one);
        }
        net.settle();
        assertThat(at.received).hasSize(before);
    }

    private static Datagram with(Datagram datagram, byte[] bytes) {
        return new Datagram(datagram.from(), datagram.to(), bytes);
    }

    @ParameterizedTest
    @CsvSource({"10.0.0.1, 10.0.0.2", "fd00::1, fd00::2", "fd00::2, fd00::1"})
    void theFirstPacketWaitsForKeysAndNothingIsSeen(String one, String other) {
        net = new PspNet();
        a = net.end(one, PspNet.SECRET, 3);
        b = net.end(other, PspNet.SECRET, 4);
        a.send(b.gid, 42);
        net.settle();
        assertThat(b.received).containsExactly(42);
        assertThat(b.last.icrcValid).isTrue();
        assertThat(new Gid(b.last.sourceHigh, b.last.sourceLow)).isEqualTo(a.gid);
        b.send(a.gid, 43);
        net.settle();
        assertThat(a.received).containsExactly(43);
        assertThat(net.seen)
                .allSatisfy(datagram -> assertThat(new String(datagram.bytes(), StandardCharsets.ISO_8859_1))
                        .doesNotContain("attack at dawn"));
        assertThat(net.seen.stream().filter(Datagram::isExchange)).hasSize(5); // one agreement for both directions
        assertThat(a.dropped() + b.dropped()).isZero();
    }

    @Test
    void theJdkAndLibcryptoUnderstandEachOther() {
        net.isLibcrypto = false;
        b.restart(5);
        connect();
        Datagram one = caught(a, b, 5);
        byte[] changed = one.bytes().clone();
        changed[40] ^= 1;
        refuses(b, with(one, changed));
        net.deliver(one);
        net.settle();
        assertThat(b.received).containsExactly(5);
    }

    /// An acknowledgement and the request behind it change places when both leave in one message. Packets that wait
    /// for keys do not.
    @Test
    void packetsStayTogetherOnceThereAreKeys() {
        assertThat(a.keepsPairsTo(b.gid)).isFalse();
        a.send(b.gid, 1);
        assertThat(a.keepsPairsTo(b.gid)).isFalse();
        net.settle();
        assertThat(a.keepsPairsTo(b.gid)).isTrue();
        net.pass(LIFE_NANOS);
        assertThat(a.keepsPairsTo(b.gid)).isFalse();
    }

    @Test
    void bothBeginAtOnce() {
        connect();
        assertThat(a.count("psp.keys.begun") + b.count("psp.keys.begun")).isEqualTo(1);
        assertThat(a.count("psp.keys.failed") + b.count("psp.keys.failed")).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void aRotationLosesNothingOverAWireThatLosesAndReorders(long seed) {
        var random = new Random(seed);
        var late = new ArrayList<Datagram>();
        int[] lost = {0};
        connect();
        int packets = 5_000; // ten rotations
        for (int i = 0; i < packets; i++) {
            net.carrier = datagram -> {
                int fate = random.nextInt(20);
                if (fate == 0) {
                    if (isPacket(datagram)) {
                        lost[0]++;
                    }
                } else if (fate < 4) {
                    late.add(datagram);
                } else {
                    net.deliver(datagram);
                    if (fate == 4) {
                        net.deliver(datagram);
                    }
                }
            };
            a.send(b.gid, i);
            b.send(a.gid, -i);
            net.settle();
            net.now += PspNet.SECOND / 100;
            while (late.size() > 10) {
                net.deliver(late.remove(random.nextInt(late.size())));
            }
        }
        net.carrier = net::deliver;
        late.forEach(net::deliver);
        net.settle();
        assertThat(b.received).doesNotHaveDuplicates();
        assertThat(a.received).doesNotHaveDuplicates();
        assertThat(a.count("psp.keys.begun") + b.count("psp.keys.begun")).isGreaterThanOrEqualTo(9);
        assertThat(b.received.size() + a.received.size()).isEqualTo(2 * packets - lost[0]);
        assertThat(a.count("psp.dropped.unsealed") + b.count("psp.dropped.unsealed"))
                .isZero();
        assertThat(a.count("psp.dropped.unknown") + b.count("psp.dropped.unknown"))
                .isZero();
        assertThat(a.count("psp.dropped.forged") + b.count("psp.dropped.forged"))
                .isZero();
    }

    /// Not a message of an exchange, and not the empty packet that confirms keys.
    private static boolean isPacket(Datagram datagram) {
        return !datagram.isExchange() && datagram.bytes().length > PspLink.OVERHEAD;
    }

    @Test
    void aRepeatedPacketIsTakenOnce() {
        connect();
        for (int i = 0; i < 1_200; i++) { // over two rotations
            a.send(b.gid, i);
            b.send(a.gid, i);
            net.settle();
        }
        assertThat(b.received).hasSize(1_200);
        List<Datagram> all = List.copyOf(net.seen);
        for (int round = 0; round < 2; round++) {
            all.forEach(net::deliver);
            net.settle();
            assertThat(b.received).hasSize(1_200);
            assertThat(a.received).hasSize(1_200);
        }
        net.pass(60 * PspNet.SECOND);
        all.forEach(net::deliver);
        net.settle();
        assertThat(b.received).hasSize(1_200);
        a.send(b.gid, 7);
        b.send(a.gid, 7);
        net.settle();
        assertThat(b.received).hasSize(1_201);
        assertThat(a.received).hasSize(1_201);
    }

    @Test
    void aReflectedPacketIsNotTaken() {
        a.send(b.gid, 1);
        b.send(a.gid, 1);
        net.settle();
        List<Datagram> all = List.copyOf(net.seen);
        for (Datagram one : all) {
            refuses(a, new Datagram(b.gid, a.gid, one.bytes()), new Datagram(a.gid, a.gid, one.bytes()));
            refuses(b, new Datagram(a.gid, b.gid, one.bytes()), new Datagram(b.gid, b.gid, one.bytes()));
        }
        a.send(b.gid, 2);
        net.settle();
        assertThat(b.received).containsExactly(1, 2);
    }

    @Test
    void withACryptOffsetTheBthIsReadByAllAndChangedByNone() {
        net = new PspNet();
        net.policy = new PspPolicy(List.of(), PspPolicy.Mode.REQUIRED, PspPolicy.CRYPT_OFFSET_MAX);
        a = net.end("10.0.0.1", PspNet.SECRET, 3);
        net.policy = PspPolicy.REQUIRED; // what a peer sends is its own affair
        b = net.end("10.0.0.2", PspNet.SECRET, 4);
        connect();
        Datagram one = caught(a, b, 5);
        var packet = MemorySegment.ofArray(one.bytes());
        assertThat(PspHeader.cryptOffset(packet, 0)).isEqualTo(5);
        int bth = PspHeader.BYTES + RoceV2.UDP_BYTES;
        assertThat(Bth.opcode(packet, bth)).isEqualTo(Opcode.UC_SEND_ONLY.code());
        assertThat(Bth.psn(packet, bth)).isEqualTo(5);
        assertThat(new String(one.bytes(), StandardCharsets.ISO_8859_1)).doesNotContain("attack at dawn");
        for (int bit = 0; bit < one.bytes().length * Byte.SIZE; bit++) {
            byte[] changed = one.bytes().clone();
            changed[bit >>> 3] ^= (byte) (1 << (bit & 7));
            refuses(b, with(one, changed));
        }
        net.deliver(one);
        net.settle();
        assertThat(b.received).containsExactly(5);
        assertThat(b.last.length).isEqualTo(a.last.length);
    }

    @Test
    void aChangedPacketIsNotTakenAndChangesNothing() {
        connect();
        Datagram one = caught(a, b, 5);
        for (int bit = 0; bit < one.bytes().length * Byte.SIZE; bit++) {
            byte[] changed = one.bytes().clone();
            changed[bit >>> 3] ^= (byte) (1 << (bit & 7));
            refuses(b, with(one, changed));
        }
        for (int bytes = 16; bytes < one.bytes().length; bytes++) {
            refuses(b, with(one, Arrays.copyOf(one.bytes(), bytes)));
        }
        refuses(b, with(one, Arrays.copyOf(one.bytes(), one.bytes().length + 4)));
        Datagram other = caught(a, b, 6);
        for (int cut = 1; cut < one.bytes().length; cut++) {
            byte[] spliced = one.bytes().clone();
            System.arraycopy(other.bytes(), cut, spliced, cut, spliced.length - cut);
            if (!Arrays.equals(spliced, one.bytes()) && !Arrays.equals(spliced, other.bytes())) {
                refuses(b, with(one, spliced));
            }
        }
        net.deliver(one);
        net.deliver(other);
        net.settle();
        assertThat(b.received).containsExactly(5, 6);
        assertThat(b.count("psp.dropped.forged")).isPositive();
    }

    @Test
    void anSpiIsForTheAddressesOnlyThatItWasAgreedFor() {
        End c = net.end("10.0.0.3", PspNet.SECRET, 3);
        connect();
        c.send(b.gid, 1);
        net.settle();
        b.received.clear();
        Datagram fromC = caught(c, b, 9);
        refuses(b, new Datagram(a.gid, b.gid, fromC.bytes()));
        assertThat(b.count("psp.dropped.unexpected")).isEqualTo(1);
        net.deliver(fromC);
        net.settle();
        assertThat(b.received).containsExactly(9);
    }

    @Test
    void withAnotherSecretNobodyTalks() {
        End stranger = net.end("10.0.0.66", OTHER_SECRET, 66);
        stranger.send(b.gid, 1);
        a.send(stranger.gid, 1);
        net.pass(20 * PspNet.SECOND);
        assertThat(b.received).isEmpty();
        assertThat(stranger.received).isEmpty();
        assertThat(b.count("psp.keys.unproven")).isPositive();
        assertThat(b.count("psp.peers.now")).isZero();
        assertThat(a.count("psp.keys.failed")).isEqualTo(1);
        assertThat(a.count("psp.dropped.unsealed")).isEqualTo(1);
    }

    /// The attacker speaks the protocol to both ends, with keys of its own, but has not the secret.
    @Test
    void anAttackerInTheMiddleLearnsNothingAndGetsNothingIn() {
        var mallory = new PspNet();
        End asB = mallory.end("10.0.0.2", OTHER_SECRET, 20);
        End asA = mallory.end("10.0.0.1", OTHER_SECRET, 10);
        net.carrier = datagram -> (datagram.to().equals(b.gid) ? asB : asA).arriving.add(datagram);
        mallory.carrier = net::deliver;
        a.send(b.gid, 1);
        b.send(a.gid, 2);
        asB.send(a.gid, 3);
        asA.send(b.gid, 4);
        for (int i = 0; i < 100; i++) {
            mallory.now = net.now;
            net.pass(PspNet.SECOND / 10);
            mallory.settle();
        }
        assertThat(a.received).isEmpty();
        assertThat(b.received).isEmpty();
        assertThat(asA.received).isEmpty();
        assertThat(asB.received).isEmpty();
    }

    /// An exchange of which each datagram in turn is changed, cut or exchanged for that of another exchange.
    @Test
    void aChangedExchangeDoesNotEndInOtherKeys() {
        a.send(b.gid, 1);
        net.settle();
        List<Datagram> earlier = net.seen.stream().filter(Datagram::isExchange).toList();
        for (int broken = 0; broken < earlier.size(); broken++) {
            for (int way = 0; way < 3; way++) {
                var victims = new PspNet();
                End one = victims.end("10.0.0.1", PspNet.SECRET, 100 + way);
                End two = victims.end("10.0.0.2", PspNet.SECRET, 200 + way);
                int[] count = {0};
                int at = broken;
                int how = way;
                victims.carrier = datagram -> {
                    if (datagram.isExchange() && count[0]++ == at) {
                        byte[] bytes = datagram.bytes().clone();
                        bytes[bytes.length / 2] ^= 1;
                        victims.deliver(
                                switch (how) {
                                    case 0 -> with(datagram, bytes);
                                    case 1 -> with(datagram, Arrays.copyOf(bytes, bytes.length - 1));
                                    default -> with(datagram, earlier.get(at).bytes());
                                });
                    } else {
                        victims.deliver(datagram);
                    }
                };
                one.send(two.gid, 1);
                victims.pass(2 * PspNet.SECOND);
                assertThat(two.received).containsExactly(1); // repeated in time
            }
        }
    }

    @Test
    void aFloodOfFirstMessagesIsNotRemembered() {
        a.send(b.gid, 1);
        net.settle();
        List<Datagram> exchange = net.seen.stream().filter(Datagram::isExchange).toList();
        var random = new Random(54);
        long before = b.count("psp.keys.unproven");
        for (int i = 0; i < 10_000; i++) {
            Datagram one = exchange.get(i % exchange.size());
            byte[] forged = one.bytes().clone();
            forged[8 + random.nextInt(forged.length - 8)] ^= (byte) (1 + random.nextInt(255));
            refuses(b, new Datagram(Gid.parse("10.1." + (i >> 8 & 255) + "." + (i & 255)), b.gid, forged));
        }
        assertThat(b.count("psp.keys.unproven") - before).isEqualTo(10_000);
        assertThat(b.count("psp.peers.now")).isEqualTo(1);
        // Recorded ones: the number is known, then the cookie is too old.
        long answered = b.count("psp.keys.answered");
        for (int round = 0; round < 2; round++) {
            exchange.forEach(net::deliver);
            net.pass(30 * PspNet.SECOND);
        }
        assertThat(b.count("psp.keys.answered")).isEqualTo(answered);
        assertThat(b.count("psp.keys.stray")).isPositive();
    }

    @Test
    void aPeerThatBeginsAnewGetsNewKeys() {
        connect();
        b.restart(77);
        a.send(b.gid, 8); // lost: it is sealed by keys that nobody has any more
        net.settle();
        a.send(b.gid, 9);
        net.settle();
        assertThat(b.received).containsExactly(9);
        b.send(a.gid, 10);
        net.settle();
        assertThat(a.received).containsExactly(10);
        a.restart(78);
        a.send(b.gid, 11);
        net.settle();
        assertThat(b.received).containsExactly(9, 11);
    }

    @Test
    void keysDieAndPeersAreForgotten() {
        connect();
        net.pass(1_900 * PspNet.SECOND);
        assertThat(a.count("psp.peers.now")).isZero();
        assertThat(b.count("psp.peers.now")).isZero();
        a.send(b.gid, 3);
        net.settle();
        assertThat(b.received).containsExactly(3);
    }

    @Test
    void aPlainPacketIsNotTaken() {
        Frame plain = a.last;
        End.write(plain, 1);
        refuses(b, new Datagram(a.gid, b.gid, plain.packet().toArray(ValueLayout.JAVA_BYTE)));
        assertThat(b.count("psp.dropped.plain")).isEqualTo(1);
    }

    @Test
    void aDeviceTalksWithItself() {
        for (int i = 0; i < 1_500; i++) {
            a.send(a.gid, i);
            net.settle();
        }
        assertThat(a.received).hasSize(1_500);
        assertThat(net.seen.stream().filter(Datagram::isExchange)).isEmpty();
    }

    @Test
    void peersAreToldWithTheirKeys() {
        connect();
        Datagram one = caught(a, b, 5);
        byte[] changed = one.bytes().clone();
        changed[40] ^= 1;
        refuses(b, with(one, changed));
        net.deliver(one);
        net.settle();
        for (int i = 0; i < 600; i++) { // over a rotation
            a.send(b.gid, i);
            net.settle();
        }
        net.pass(3 * PspNet.SECOND);
        PspStatus status = b.psp.peers().getFirst();
        assertThat(b.psp.peers()).hasSize(1);
        assertThat(status.peer()).isEqualTo(a.gid);
        assertThat(status.policy()).isEqualTo(PspPolicy.Mode.REQUIRED);
        assertThat(status.isPlain()).isFalse();
        assertThat(status.cipher()).isEqualTo("AES_GCM_128");
        assertThat(status.spi()).isNotZero();
        assertThat(status.agreements()).isEqualTo(2);
        assertThat(status.ageNanos()).isBetween(3 * PspNet.SECOND, 4 * PspNet.SECOND);
        assertThat(status.dropped()).containsExactly(Map.entry("forged", 1L));
        assertThat(status.opened()).isGreaterThanOrEqualTo(602);
        assertThat(status.sealed()).isPositive();
    }

    @Test
    void groupsAreRefusedWithTheReason() {
        Gid group = Gid.parse("224.0.0.5");
        assertThatThrownBy(() -> a.psp.join(group))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining("psp=on")
                .hasMessageContaining("a group has no keys");
        a.send(group, 1);
        net.settle();
        assertThat(net.seen).isEmpty();
        assertThat(a.psp.unsendable()).isEqualTo(1);
    }
}
