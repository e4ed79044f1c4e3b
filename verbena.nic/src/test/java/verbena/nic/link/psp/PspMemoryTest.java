package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.cm.noise.KeyExchange;
import verbena.foreign.crypto.AesGcmContexts;
import verbena.transport.psp.Association;
import verbena.verbs.Gid;
import verbena.wire.psp.PspVersion;

/// The memory of associations, and how many others can make a device hold.
class PspMemoryTest {
    private static final int PEERS = 1_000;
    private static final int ROUNDS = 4;
    /// The size of a context of libcrypto 3.0. mallinfo2(3) counted 1,240 and 1,505 bytes for each of 1,000.
    private static final int CONTEXT_BYTES = 1_600;

    private static final Pattern TOTAL = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)");

    private final Random random = new Random(54);

    /// Returns the bytes of all objects that are in use, after a collection of garbage.
    private static long heapBytes() throws Exception {
        String histogram = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        Matcher total = TOTAL.matcher(histogram);
        assertThat(total.find()).isTrue();
        return Long.parseLong(total.group(1));
    }

    private byte[] key(PspVersion version) {
        byte[] key = new byte[version.keyBytes()];
        random.nextBytes(key);
        return key;
    }

    private static Gid address(int number) {
        return new Gid(0, 0xFFFF_0A00_0000L | number);
    }

    /// A thousand associations take no more than 1 MB together, although each has sent and received.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aThousandAssociationsTakeAMegabyte(boolean isLibcrypto) throws Exception {
        assumeTrue(!isLibcrypto || PspCiphers.isLibcryptoThere(), "no libcrypto");
        PspVersion version = PspVersion.AES_GCM_256;
        long most = Long.MIN_VALUE;
        try (var ciphers = new PspCiphers(version, isLibcrypto, KeyLog.NONE);
                var other = new PspCiphers(version, isLibcrypto, KeyLog.NONE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(512);
            var peers = new PspPeers(version, PspPolicy.REQUIRED, PspNet.LIMITS, random::nextInt);
            for (int round = 0; round < ROUNDS; round++) { // the first loads what it needs
                long before = heapBytes();
                for (int i = 0; i < PEERS; i++) {
                    var pair = new KeyExchange.Pair(address(1), address(2 + i + round * PEERS));
                    PspPeer peer = Objects.requireNonNull(peers.add(pair, 4791, 0));
                    byte[] there = key(version);
                    byte[] back = key(version);
                    peer.association.install(
                            new Association.Keys(7, ciphers.cipher(7, there), 8, ciphers.cipher(8, back)), 0);
                    try (var far = new Association(version, 0, PspNet.LIMITS)) {
                        far.install(new Association.Keys(8, other.cipher(8, back), 7, other.cipher(7, there)), 0);
                        for (int packet = 0; packet < 3; packet++) {
                            int bytes = far.seal(memory, 0, 64, memory, 128, 17, 0);
                            assertThat(peer.association.open(memory, 128, bytes, memory, 384, 0))
                                    .isEqualTo(verbena.wire.psp.PspVerdict.ACCEPTED);
                            assertThat(peer.association.seal(memory, 0, 64, memory, 128, 17, 0))
                                    .isPositive();
                        }
                    }
                }
                most = round == 0 ? most : Math.max(most, heapBytes() - before);
            }
            long natives = (long) ciphers.contexts() * CONTEXT_BYTES;
            System.out.printf("%,d associations: %,d bytes of heap, %,d of libcrypto%n", PEERS, most, natives);
            assertThat(most).isPositive();
            assertThat(most + natives).isLessThanOrEqualTo(1 << 20);
            assertThat(ciphers.contexts()).isLessThanOrEqualTo(AesGcmContexts.MAX);
            peers.close();
        }
    }

    /// A host with a network of IPv6 for itself cannot fill the table by addresses of its own.
    @Test
    void aNetworkGetsAPartOfTheTable() {
        var peers = new PspPeers(PspVersion.AES_GCM_128, PspPolicy.REQUIRED, PspNet.LIMITS, random::nextInt);
        Gid own = Gid.parse("fd00::1");
        int asked = 0;
        while (peers.hasRoomFor(new Gid(own.high() + 1, asked))) {
            var _ = peers.add(new KeyExchange.Pair(own, new Gid(own.high() + 1, asked++)), 4791, 0);
        }
        assertThat(asked).isEqualTo(PspPeers.OF_NETWORK_MAX);
        assertThat(peers.hasRoomFor(new Gid(own.high() + 2, 1))).isTrue();
        assertThat(peers.hasRoomFor(address(1))).isTrue();
        for (int i = peers.count(); i < PspPeers.PEERS_MAX; i++) {
            var _ = peers.add(new KeyExchange.Pair(own, address(i)), 4791, 0);
        }
        assertThat(peers.hasRoomFor(address(0))).isFalse();
        assertThat(peers.add(new KeyExchange.Pair(own, address(0)), 4791, 0)).isNull();
    }
}
