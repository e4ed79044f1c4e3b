package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.nic.GoalRun;
import verbena.nic.link.psp.PspNet.Datagram;
import verbena.nic.link.psp.PspNet.End;
import verbena.verbs.Gid;

/// H1 for packets of PSP: whatever arrives at a device that protects its packets, nothing is thrown, nothing is taken,
/// and the peers go on. The attacker sees all that is on the wire, and has every number, but not the secret.
class HostilePspTest {
    private static final int TRIES = GoalRun.size(60_000, 20_000_000);
    private static final int RECORDED_MAX = 400;
    private static final int BYTES_MAX = 300;

    private final Random random = new Random(GoalRun.seed());
    private final PspNet net = new PspNet();
    private final List<Datagram> recorded = new ArrayList<>();

    /// One way to make a datagram from those that were on the wire.
    private enum Kind {
        RANDOM,
        FLIPPED,
        CUT,
        LONGER,
        SPLICED,
        REDIRECTED,
        REPEATED,
        HEADER,
        PLAIN
    }

    private Datagram any() {
        return recorded.get(random.nextInt(recorded.size()));
    }

    private Datagram forged(Kind kind, End a, End b) {
        Datagram one = any();
        byte[] bytes = one.bytes().clone();
        Gid from = one.from();
        Gid to = one.to();
        switch (kind) {
            case RANDOM -> {
                bytes = new byte[16 + random.nextInt(BYTES_MAX)];
                random.nextBytes(bytes);
            }
            case FLIPPED -> {
                for (int i = 0; i <= random.nextInt(3); i++) {
                    bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
                }
            }
            case CUT -> bytes = Arrays.copyOf(bytes, Math.max(16, random.nextInt(bytes.length)));
            case LONGER -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(64));
            case SPLICED -> {
                byte[] other = any().bytes();
                int at = random.nextInt(Math.min(bytes.length, other.length));
                System.arraycopy(other, at, bytes, at, Math.min(bytes.length, other.length) - at);
            }
            case REDIRECTED -> {
                from = random.nextBoolean() ? Gid.parse("10.0.0." + random.nextInt(256)) : one.to();
                to = random.nextBoolean() ? a.gid : b.gid;
            }
            case REPEATED -> {}
            case HEADER -> {
                byte[] text = new byte[bytes.length];
                random.nextBytes(text);
                System.arraycopy(bytes, 0, text, 0, 16); // SPI and IV of a packet that was there
                text[15] += (byte) random.nextInt(4);
                bytes = text;
            }
            case PLAIN -> {
                random.nextBytes(bytes);
                bytes[1] &= (byte) 0xF0;
                from = random.nextBoolean() ? from : Gid.parse("10.0.7." + random.nextInt(256));
            }
        }
        return new Datagram(from, to, bytes);
    }

    /// In between, both ends talk and replace their keys, so there are always recorded packets of keys that live.
    @ParameterizedTest
    @EnumSource(value = PspPolicy.Mode.class, names = "OFF", mode = EnumSource.Mode.EXCLUDE)
    void nothingThatIsForgedIsTaken(PspPolicy.Mode mode) {
        net.policy = new PspPolicy(List.of(), mode);
        End a = net.end("10.0.0.1", PspNet.SECRET, 1);
        End b = net.end("10.0.0.2", PspNet.SECRET, 2);
        int number = 1;
        a.send(b.gid, number);
        b.send(a.gid, number);
        net.settle();
        a.received.clear();
        b.received.clear();
        Kind[] kinds = Kind.values();
        int plain = 0;
        for (int i = 0; i < TRIES; i++) {
            if (i % 50 == 0) {
                number++;
                a.send(b.gid, number);
                b.send(a.gid, -number);
                net.settle();
                assertThat(b.received).as("after %d", i).containsExactly(number);
                assertThat(a.received).containsExactly(-number);
                a.received.clear();
                b.received.clear();
                recorded.addAll(net.seen);
                net.seen.clear();
                if (recorded.size() > RECORDED_MAX) {
                    recorded.subList(0, recorded.size() - RECORDED_MAX).clear();
                }
                net.now += PspNet.SECOND / 20;
            }
            Kind kind = kinds[random.nextInt(kinds.length)];
            Datagram one = forged(kind, a, b);
            boolean isFromPeer = one.from().equals(a.gid) || one.from().equals(b.gid);
            boolean isPlain = (one.bytes()[1] & 0xF) == 0;
            (one.to().equals(a.gid) ? a : b).arriving.add(one);
            net.settle();
            net.seen.clear();
            if (isPlain && mode == PspPolicy.Mode.OFFERED && !isFromPeer) {
                a.received.clear(); // a stranger may talk in the clear where protection is offered
                b.received.clear();
                plain++;
            }
            assertThat(a.received).as("%s, %s", kind, one).isEmpty();
            assertThat(b.received).as("%s, %s", kind, one).isEmpty();
        }
        for (End end : List.of(a, b)) {
            assertThat(end.psp.peers())
                    .filteredOn(peer -> peer.peer().equals(a.gid) || peer.peer().equals(b.gid))
                    .allSatisfy(peer -> assertThat(peer.isPlain()).isFalse());
        }
        Map<String, Long> counters = b.psp.counters();
        assertThat(counters.get("psp.dropped.forged")).isPositive();
        assertThat(counters.get("psp.dropped.repeated") + counters.get("psp.dropped.old"))
                .isPositive();
        assertThat(counters.get("psp.dropped.unexpected")).isPositive();
        assertThat(counters.get("psp.dropped.plain")).isPositive();
        assertThat(counters.get("psp.keys.unproven")).isPositive();
        GoalRun.print(
                "H1",
                TRIES + " forged datagrams to two ends with psp, " + mode + ": 0 were taken as the peer's, " + plain
                        + " strangers in the clear");
    }
}
